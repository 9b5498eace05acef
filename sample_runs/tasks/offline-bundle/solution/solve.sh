#!/bin/bash
set -euo pipefail
cd /usr/share/common-licenses
find . -maxdepth 1 -type f -printf '%f\n' | LC_ALL=C sort |
    tar --create --files-from - --mtime @0 --owner 0 --group 0 --numeric-owner --mode 0644 | gzip -9n >/srv/bundle.tar.gz
ls -l /srv/bundle.tar.gz
