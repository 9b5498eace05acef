#!/bin/bash
set -euo pipefail
mkdir -p /app/out
: >/tmp/taken
while read -r id account amount < <(queue take); do
    echo "$id $account $amount" >>/tmp/taken
    queue done "$id"
done
sort -u /tmp/taken | awk '{ cents[$2] += $3 * 100 } END { for (a in cents) printf "%s\t%.0f\n", a, cents[a] }' | LC_ALL=C sort >/app/out/balances.tsv
cat /app/out/balances.tsv
