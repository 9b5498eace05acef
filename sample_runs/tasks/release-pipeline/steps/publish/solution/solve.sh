#!/bin/bash
set -euo pipefail
version=$(cat /app/VERSION)
install -d -m 0755 "/srv/releases/$version"
install -m 0644 /app/dist/* "/srv/releases/$version/"
ln -sfn "$version" /srv/releases/.latest
mv -T /srv/releases/.latest /srv/releases/latest
ls -l /srv/releases
