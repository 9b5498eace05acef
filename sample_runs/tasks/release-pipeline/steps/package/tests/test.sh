#!/bin/bash
. /tests/checks.sh
version=$(cat /app/VERSION)
package=/app/dist/pocket-$version.tar

names() { diff <(sed "s,^,pocket-$version/," /app/package.list | sort) <(tar -tf "$package" | sort); }
contents() {
    local name
    while read -r name; do
        cmp "/app/$name" <(tar -xOf "$package" "pocket-$version/$name") || return 1
    done </app/package.list
}
in_order() { test -s "$package" && tar -tf "$package" | sort -c; }
owners() { test -s "$package" && ! tar --numeric-owner -tvf "$package" | grep -v ' 0/0 '; }
times() { test -s "$package" && ! TZ=UTC tar --full-time -tvf "$package" | grep -v ' 2026-03-14 00:00:00 '; }
sums() { (cd /app/dist && grep -q "pocket-$version.tar" SHA256SUMS && sha256sum -c SHA256SUMS); }

check 'the right files, and no others' names
check 'their contents' contents
check 'sorted by name' in_order
check 'owner and group are 0' owners
check 'one time stamp' times
check 'checksums' sums

layout=0
if names >/dev/null 2>&1; then layout=1; fi
finish_share layout=$layout
