#!/bin/bash
. /tests/checks.sh

get() { curl -sS --max-time 3 "$BASE$1"; }
status() { curl -sS --max-time 3 -o /dev/null -w '%{http_code}' "$BASE$1"; }

# A change of the last second may not be live yet.
for _ in {1..8}; do
    if [ "$(get /docs/x)" = 'manual /docs/x' ]; then break; fi
    sleep 0.25
done

home() { get / | grep -q "<h1>$EXPECTED_HOME</h1>"; }
api() { get '/api/items?id=3' | grep -E '^app /items\?id=3 for '; }
api_internal() { get /api/internal/x | grep -E '^app /internal/x for '; }
real_ip() { get /api/who | grep -E ' for [0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$'; }
docs() { get /docs/guide/start | grep -x 'manual /docs/guide/start'; }
moved() {
    local answer
    answer=$(curl -sS --max-time 3 -o /dev/null -w '%{http_code} %{redirect_url}' "$BASE/v0/items/7?full=1")
    echo "$answer"
    [ "$answer" = "301 $BASE/api/items/7?full=1" ]
}
internal() { [ "$(status /internal/metrics)" = 404 ]; }

check 'home page is there' home
check 'the application sees the path without /api' api
check 'also when the rest says internal' api_internal
check 'the application learns the address of the client' real_ip
check 'the manual sees the whole path' docs
check '/v0/ moved for good' moved
check '/internal/ is not there' internal
finish
