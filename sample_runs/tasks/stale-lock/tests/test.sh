#!/bin/bash
. /tests/checks.sh
cd /app || exit 1

receipts() { diff <(sed 's/^invoice/receipt/' spool/in/*.txt) <(cat spool/out/*.txt); }
protected() {
    local said
    mkdir run/batch.lock && echo 1 >run/batch.lock/pid
    said=$(timeout 1 bin/batch)
    rm -r run/batch.lock
    [[ $said == *'another batch is running (pid 1)'* ]]
}

check 'every invoice has its receipt' receipts
check 'the invoices are there' test "$(cat spool/in/*.txt | wc -l)" -eq 8
check 'the program is as it was' sha256sum --status -c /tests/batch.sha256
check 'no lock is left' test ! -e run/batch.lock
check 'a lock that is held still protects' protected
finish
