#!/bin/bash
if [ "$(cat /app/out/answer.txt)" = 1234 ] && [ ! -e /var/lib/ledger/closed ]; then
    echo 1 >/logs/verifier/reward.txt
else
    echo 0 >/logs/verifier/reward.txt
fi
