#!/bin/bash
. /tests/checks.sh

# ask METHOD PATH: the answer, without carriage returns.
ask() {
    exec 3<>/dev/tcp/127.0.0.1/8080 || return 1
    printf '%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n' "$1" "$2" >&3
    timeout 3 cat <&3 | tr -d '\r'
}
length_agrees() {
    local answer=$1 said body
    said=$(sed -n 's/^Content-Length: *//Ip' <<<"$answer")
    body=${answer#*$'\n\n'}
    [ "$said" = $((${#body} + 1)) ]
}
status() {
    local answer
    answer=$(ask GET /status)
    echo "$answer"
    [[ $answer == 'HTTP/1.1 200 '* && $answer == *$'\n\n{"status":"ok","jobs":'"$1"'}' ]] &&
        grep -qi '^content-type: application/json' <<<"$answer" && length_agrees "$answer"
}
not_found() {
    local answer
    answer=$(ask GET "$1")
    echo "$answer"
    [[ $answer == 'HTTP/1.1 404 '* && $answer == *$'\n\nnot found' ]] && length_agrees "$answer"
}
rude_clients() {
    local n
    for n in 1 2 3; do (: </dev/tcp/127.0.0.1/8080); done
    (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'hello\n' >&3)
    sleep 0.2
    status 4
}

check 'something listens' eval '(: </dev/tcp/127.0.0.1/8080)'
check 'the status' status 3
touch /app/jobs/d
check 'the status counts' status 4
check 'another path' not_found /
check 'a longer path' not_found /status/jobs
check 'clients that go away' rude_clients
finish
