#!/bin/bash
. /tests/checks.sh
report=/app/report.csv

header() { [ "$(head -n 1 "$report")" = region,orders,revenue ] && [ "$(grep -c . "$report")" -eq 6 ]; }

sorted() {
    local revenue
    revenue=$(sed '1d;$d' "$report" | cut -d, -f3)
    [ -n "$revenue" ] && [ "$revenue" = "$(sort -rn <<<"$revenue")" ]
}

regions() {
    diff <(sed '1d' "$report" | grep -v '^TOTAL,' | sort) - <<'END'
east,19,4932.49
north,14,5128.34
south,15,4447.12
west,13,4469.05
END
}

total() { diff <(tail -n 1 "$report") <(echo TOTAL,61,18977.00); }

check 'header and six lines' header
check 'most revenue first' sorted
check 'orders and revenue of each region' regions
check 'total in the last line' total

style=0
if [ -s "$report" ] && ! grep -q '[[:space:]]$' "$report" && [ -z "$(tail -c 1 "$report")" ]; then style=1; fi
finish_share style=$style
