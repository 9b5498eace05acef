#!/bin/bash
. /tests/checks.sh
keys=/data/export/keys.tsv

part() { diff <(grep -P "^$1" /tests/expected.tsv) <(grep -P "^$1" "$keys"); }
keys_only() { diff <(cut -f 1 /tests/expected.tsv) <(cut -f 1 "$keys"); }

check 'the cache was exported' test -s "$keys"
check 'prices are the new ones' part 'product:'
check 'stale pages are gone, other pages are not' part 'page:product:'
check 'stale category lists are gone, others are not' part 'page:category:'
check 'baskets of customers are untouched' part 'session:'
check 'the version was raised once' part 'catalog:version\t'
check 'nothing was added' keys_only
check 'the hook in main saw the same version' grep -P '\t42$' /app/handover/catalog.tsv
finish
