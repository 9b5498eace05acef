#!/bin/bash
. /tests/checks.sh

settings() { diff <(/app/bin/checkconf --dump /app/etc 2>/dev/null) /tests/settings.txt; }
comments() { diff <(cd /app/etc && cat gateway.conf sites/*.conf | grep -o '#.*') /tests/comments.txt; }
no_copies() { [ -z "$(find /app/etc -name '*.bak')" ]; }

check 'a fresh verifier of the same environment' test "$CHECKCONF_STRICT" = 1
check 'the checker accepts it' /app/bin/checkconf /app/etc
check 'every setting' settings
check 'comments are kept' comments
check 'no working copies were handed over' no_copies
finish
