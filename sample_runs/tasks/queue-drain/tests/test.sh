#!/bin/bash
. /tests/checks.sh

balances() { diff /tests/balances.tsv /app/out/balances.tsv; }
done_once() { diff /tests/done.txt <(sort /var/lib/queue/done.log); }

check 'balances' balances
check 'every message was marked, as often as it came' done_once
finish
