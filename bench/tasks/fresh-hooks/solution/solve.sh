#!/bin/bash
exec 3<>/dev/tcp/ledger/7000
read -r total <&3
echo "$total" >/app/out/answer.txt
