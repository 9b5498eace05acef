from __future__ import annotations

import pytest

from engine.readers.masked_text import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("401 with sk-ant-api03-abcdefgh1234", "401 with <key>"),
        ("cloning https://me:hunter2@host/x.git", "cloning https://<key>@host/x.git"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer <key>"),
        ('{"api_key": "abc123456", "model": "m"}', '{"api_key": "<key>", "model": "m"}'),
        ("AKIAABCDEFGHIJKLMNOP rejected", "<key> rejected"),
        ("token=ghp_0123456789abcdef0123 refused", "token=<key> refused"),
        ("the task is about api keys: none here", "the task is about api keys: none here"),
        ("exit 1: no such table", "exit 1: no such table"),
    ],
)
def test_what_looks_like_a_key_is_not_shown(text: str, shown: str) -> None:
    assert masked(text) == shown
