#!/bin/bash
set -euo pipefail
cache() { redis-cli -h "$CACHE_HOST" "$@"; }

tail -n +2 /app/prices.csv | while IFS=, read -r id price; do
    if [ "$(cache hget "product:$id" price </dev/null)" != "$price" ]; then
        category=$(cache hget "product:$id" category </dev/null)
        echo "hset product:$id price $price"
        echo "del page:product:$id page:category:$category"
    fi
done >/tmp/stale.txt
echo 'incr catalog:version' >>/tmp/stale.txt
cat /tmp/stale.txt
cache </tmp/stale.txt
