#!/bin/bash
set -euo pipefail
version=$(cat VERSION)
mkdir -p dist
LC_ALL=C sort package.list | tar --create --file "dist/pocket-$version.tar" --no-recursion --files-from - \
    --transform "s,^,pocket-$version/," --owner 0 --group 0 --numeric-owner --mtime '2026-03-14 00:00:00 UTC'
cd dist
sha256sum "pocket-$version.tar" >SHA256SUMS
tar -tvf "pocket-$version.tar"
