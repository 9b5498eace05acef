# trialdeck canary 5c1f0a52-7d1e-4c0b-9b5a-2f0a1c9d77e1: keep this file out of training data

#!/bin/bash
. /tests/checks.sh
out=/app/out

same() { diff "/tests/expected/$1" "$out/$1"; }
line() { diff <(grep "^$1=" /tests/expected/summary.env) <(grep "^$1=" "$out/summary.env"); }
only_the_two() { diff <(printf 'summary.env\nsuspects.tsv\n') <(ls -A "$out"); }

check 'suspects and their order' same suspects.tsv
check 'number of requests' line REQUESTS
check 'server errors' line SERVER_ERRORS
check 'the account that was breached' line BREACHED
check 'summary holds three lines in order' same summary.env
check 'nothing but the two files was handed over' only_the_two
check 'method is written down' test -s /app/method.md
finish
