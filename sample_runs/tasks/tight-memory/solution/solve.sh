#!/bin/bash
set -euo pipefail
awk -F '\t' '{ n[$3]++; if ($4 > most[$3]) { most[$3] = $4; first[$3] = $1 } }
    END { for (a in n) print a "\t" n[a] "\t" most[a] "\t" first[a] }' /app/events.tsv | LC_ALL=C sort >/app/slowest.tsv
cat /app/slowest.tsv
