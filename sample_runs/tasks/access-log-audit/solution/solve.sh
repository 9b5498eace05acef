#!/bin/bash
set -euo pipefail
log=/app/logs/access.log
mkdir -p /app/out
# Fields: 1 address, 6 method (after its quote), 7 path, 9 status.
awk '$7 == "/login" && ($9 == 401 || $9 == 403) { n[$1]++ } END { for (a in n) if (n[a] >= 20) print n[a] "\t" a }' "$log" |
    LC_ALL=C sort -k1,1nr -k2,2 | tee /app/out/refusals.tmp >/app/out/suspects.tsv
{
    echo "REQUESTS=$(wc -l <"$log")"
    echo "SERVER_ERRORS=$(awk '$9 >= 500' "$log" | wc -l)"
    echo "BREACHED=$(awk 'NR == FNR { suspect[$2]; next }
        $7 == "/login" && ($9 == 401 || $9 == 403) { refused[$1]++ }
        $1 in suspect && refused[$1] >= 20 && $6 == "\"POST" && $7 == "/login" && $9 == 302 { print $1 }' /app/out/suspects.tsv "$log")"
} >/app/out/summary.env
echo 'Counted refusals on /login by address; a 302 after at least 20 refusals is the breach.' >/app/method.md
head /app/out/*
