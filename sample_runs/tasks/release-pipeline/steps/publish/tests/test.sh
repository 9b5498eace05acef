#!/bin/bash
. /tests/checks.sh
version=$(cat /app/VERSION)
releases=/srv/releases

copied() { cmp "/app/dist/pocket-$version.tar" "$releases/$version/pocket-$version.tar" && (cd "$releases/$version" && sha256sum -c SHA256SUMS); }
modes() { [ "$(stat -c '%a' "$releases/$version" "$releases/$version"/* | tr '\n' ' ')" = '755 644 644 ' ]; }
owned() { test -d "$releases/$version" && [ -z "$(find "$releases/$version" ! -user publisher)" ]; }
latest() { [ "$(readlink "$releases/latest")" = "$version" ]; }
older() { [ "$(cat "$releases/1.4.2/pocket-1.4.2.tar")" = 'an older package' ]; }

check 'package and checksums are published' copied
check 'modes' modes
check 'the publisher owns them' owned
check 'latest names the new version' latest
check 'the older release is there' older
finish
