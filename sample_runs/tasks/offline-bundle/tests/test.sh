#!/bin/bash
# The reward is the strongest gzip's size over the size that was handed in, at most 1; 0 if the contents are wrong.
set -euo pipefail
bundle=/srv/bundle.tar.gz
reward=/logs/verifier/reward.txt
cd /usr/share/common-licenses

if [ ! -e "$bundle" ]; then
    echo 'there is no bundle'
    echo 0 >"$reward"
    exit
fi
find . -maxdepth 1 -type f -printf '%f\n' | LC_ALL=C sort >/tmp/names
target=$(tar -cT /tmp/names --mtime @0 --owner 0 --group 0 --numeric-owner --mode 0644 | gzip -9n | wc -c)
size=$(stat -c %s "$bundle")
score=$(perl -e 'my $share = $ARGV[0] / $ARGV[1]; printf "%.4g\n", $share < 1 ? $share : 1' "$target" "$size")

if ! gzip -dc "$bundle" >/tmp/bundle.tar || ! TZ=UTC tar --numeric-owner --full-time -tvf /tmp/bundle.tar >/tmp/listing; then
    echo 'not a compressed archive'
    score=0
elif ! diff /tmp/names <(tar -tf /tmp/bundle.tar); then
    echo 'other names, or another order'
    score=0
elif grep -vE '^-rw-r--r-- 0/0 +[0-9]+ 1970-01-01 00:00:00 [^/]+$' /tmp/listing; then
    echo 'entries with another owner, mode or time'
    score=0
elif [ "$(dd if="$bundle" bs=1 skip=4 count=4 status=none | od -An -tx1 | tr -d ' \n')" != 00000000 ]; then
    echo 'the gzip header holds a time'
    score=0
else
    while read -r name; do
        cmp "$name" <(tar -xOf /tmp/bundle.tar "$name") || score=0
    done </tmp/names
fi
echo "size $size, strongest gzip $target, score $score"
echo "$score" >"$reward"
