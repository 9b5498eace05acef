#!/bin/bash
. /tests/checks.sh
export=/var/lib/postgresql/export

order() { grep -q $'^1146\t41\t1773349500\tpaid$' "$export/orders.tsv"; }

lines() {
    diff <(grep ^1146 "$export/order_lines.tsv") - <<'END'
1146	1	green tea	2	6.25
1146	2	black tea	1	5.75
1146	3	mint tea	3	5.50
1146	4	blue kettle	1	41.00
END
}

others_deleted() { ! grep -E '^114[124578]' "$export/orders.tsv" "$export/order_lines.tsv"; }

untouched() {
    (cd "$export" && grep -v ^1146 orders.tsv | sha256sum && grep -v ^1146 order_lines.tsv | sha256sum && sha256sum <customers.tsv) |
        diff /tests/untouched.sha256 -
}

audited() {
    [ "$(grep -c restore "$export/audit.tsv")" -eq 1 ] && grep -P '\trestore\torders\t1146\t.' "$export/audit.tsv" &&
        [ "$(grep -c -P '\tdelete\t' "$export/audit.tsv")" -eq 19 ]
}

answer() { [ "$(tr -d '[:space:]' </app/restored.txt)" = 1146 ]; }

check 'the database was exported' test -s "$export/orders.tsv"
check 'the order is back' order
check 'its lines are back' lines
check 'other deleted orders stay deleted' others_deleted
check 'no other row has changed' untouched
check 'one audit row tells of it, older ones are intact' audited
check 'the number was reported' answer
finish
