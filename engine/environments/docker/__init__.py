"""Environments on a Docker engine: Compose definitions, exec, archives, readiness, samples, removal."""

from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.provider import DockerFacts, DockerProvider
from engine.environments.docker.sweep import Leftover, find_leftovers, remove_leftovers

__all__ = ["DockerEnvironment", "DockerFacts", "DockerProvider", "Leftover", "find_leftovers", "remove_leftovers"]
