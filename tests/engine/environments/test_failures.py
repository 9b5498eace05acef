"""What messages mean: the classes that a person must tell apart, in the words of the tools that people really saw."""

from __future__ import annotations

import pytest

from engine.environments.docker.engine_api import TIMED_OUT, UNREACHABLE, EngineCallFailed
from engine.environments.docker.failures import classify, fixed_name, from_daemon, holder
from engine.issues import Code

WORDS = [
    # Case 16: the wording of two generations of engines, and the harmless stand-in
    ("could not find an available, non-overlapping IPv4 address pool among the defaults", Code.ADDRESS_POOL_EXHAUSTED),
    ("all predefined address pools have been fully subnetted", Code.ADDRESS_POOL_EXHAUSTED),
    ("Pool overlaps with other one on this address space", Code.ADDRESS_POOL_EXHAUSTED),
    # Case 4
    ('Conflict. The container name "/fixed" is already in use by container "abc".', Code.NAME_CONFLICT),
    ("driver failed programming: Bind for 127.0.0.1:18999 failed: port is already allocated", Code.NAME_CONFLICT),
    ("listen tcp4 127.0.0.1:80: bind: address already in use", Code.NAME_CONFLICT),
    # Case 5
    ("toomanyrequests: You have reached your pull rate limit.", Code.PULL_RATE_LIMITED),
    ("net/http: TLS handshake timeout", Code.PULL_FAILED),
    ('Get "http://localhost:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused', Code.PULL_FAILED),
    ("manifest for example/none:1 not found: manifest unknown", Code.PULL_FAILED),
    ("pull access denied for x, repository does not exist or may require 'docker login'", Code.PULL_FAILED),
    ("No such image: localhost:1/none:1", Code.PULL_FAILED),
    # Case 11
    ("write /var/lib/docker/tmp/x: no space left on device", Code.DISK_FULL),
    # Case 8
    ("cannot join network of a non running container: 8f2a", Code.SERVICE_EXITED),
    ("runc create failed: namespace path: lstat /proc/14199/ns/net: no such file or directory", Code.SERVICE_EXITED),
    # others
    ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", Code.DAEMON_UNREACHABLE),
    ("accept: too many open files", Code.OUT_OF_DESCRIPTORS),
]


@pytest.mark.parametrize(("text", "code"), WORDS)
def test_known_words_have_their_class(text: str, code: Code) -> None:
    found = classify(f"Error response from daemon: {text}\n")
    assert found is not None
    assert found.code is code


@pytest.mark.parametrize(
    ("text", "retryable"),
    [
        ("toomanyrequests: You have reached your pull rate limit.", True),
        ("net/http: TLS handshake timeout", True),
        ('Get "https://registry.example/v2/": EOF', True),
        ("received unexpected HTTP status: 503 Service Unavailable", True),
        ("manifest for example/none:1 not found", False),
        ("no matching manifest for linux/arm64 in the manifest list entries", False),
        ("unauthorized: incorrect username or password", False),
        ("failed to resolve reference docker.io/library/x:1: docker.io/library/x:1: not found", False),
    ],
)
def test_only_what_may_pass_by_itself_is_tried_again(text: str, retryable: bool) -> None:
    """Case 5."""
    found = classify(text)
    assert found is not None
    assert found.retryable is retryable


@pytest.mark.parametrize("text", ["", "exit status 1", "container x is unhealthy", "service seed didn't complete"])
def test_other_words_have_none(text: str) -> None:
    assert classify(text) is None


def test_a_conflict_names_the_other_holder() -> None:
    """Case 4."""
    text = 'Conflict. The container name "/fixed" is already in use by container "0123456789abcdef". You have to remove'
    assert (fixed_name(text), holder(text)) == ("fixed", "0123456789abcdef")
    assert holder("Bind for 127.0.0.1:18999 failed: port is already allocated") == "127.0.0.1:18999"


def test_a_daemon_out_of_reach_is_not_taken_for_anything_else() -> None:
    """Its own words may hold a path or a port; and a lack of descriptors is ours, not the daemon's."""
    gone = from_daemon(EngineCallFailed(UNREACHABLE, "Cannot connect: address already in use"), "start")
    late = from_daemon(EngineCallFailed(TIMED_OUT, "no answer"), "start")
    ours = from_daemon(EngineCallFailed(UNREACHABLE, "[Errno 24] Too many open files"), "start")
    codes = [failed.issue.code for failed in (gone, late, ours)]
    assert codes == [Code.DAEMON_UNREACHABLE, Code.DAEMON_UNREACHABLE, Code.OUT_OF_DESCRIPTORS]
    assert "address already in use" in gone.issue.evidence[0].text


def test_unknown_words_are_shown_as_they_are() -> None:
    failed = from_daemon(EngineCallFailed(500, "something new"), "start main", service="main")
    assert failed.issue.code is Code.ENVIRONMENT_FAILED
    assert failed.issue.message == "start main: something new"
    assert failed.issue.service == "main"
