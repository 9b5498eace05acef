#!/bin/bash
# The reward is the strongest gzip's size over the size that was handed in, at most 1; 0 if the contents are wrong.
bundle=/srv/bundle.tar.gz
reward=/logs/verifier/reward.txt
cd /usr/share/common-licenses || exit 1

if [ ! -e "$bundle" ]; then
    echo 'there is no bundle'
    echo 0 >"$reward"
    exit
fi
find . -maxdepth 1 -type f -printf '%f\n' | LC_ALL=C sort >/tmp/names
target=$(tar -cT /tmp/names --mtime @0 --owner 0 --group 0 --numeric-owner --mode 0644 | gzip -9n | wc -c)
size=$(stat -c %s "$bundle")
score=$(awk "BEGIN { share = $target / $size; print share < 1 ? share : 1 }")

gzip -dc "$bundle" >/tmp/bundle.tar
listed=$(TZ=UTC tar --numeric-owner --full-time -tvf /tmp/bundle.tar | grep -vcE '^-rw-r--r-- 0/0 +[0-9]+ 1970-01-01 00:00:00 [^/]+$')
if ! diff /tmp/names <(tar -tf /tmp/bundle.tar); then
    echo 'other names, or another order'
    score=0
elif [ "$listed" -ne 0 ]; then
    echo "$listed entries have another owner, mode or time"
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
