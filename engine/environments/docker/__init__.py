"""Environments on a Docker engine: Compose definitions, exec, archives, readiness, samples, removal."""
