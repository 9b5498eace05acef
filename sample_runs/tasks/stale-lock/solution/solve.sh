#!/bin/bash
set -euo pipefail
pid=$(cat run/batch.lock/pid)
if [ -d "/proc/$pid" ] && grep -q batch "/proc/$pid/cmdline"; then
    echo "a batch is running as $pid"
    exit 1
fi
rm -r run/batch.lock
bin/batch
