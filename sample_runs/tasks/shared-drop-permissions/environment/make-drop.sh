#!/bin/bash
# A drop folder as it looks after some years.
set -euo pipefail
mkdir -p /srv/drop/{incoming/march,reports,'old stuff',tools} /srv/shared
cd /srv/drop
echo 'amount;4.20' >incoming/march/one.csv
echo 'amount;9.90' >'incoming/march/two words.csv'
echo 'Q1 was good.' >reports/q1.txt
echo 'echo cleaning' >tools/clean.sh
echo 'echo backup' >'tools/back up.sh'
echo secret >'old stuff/-rf'
echo '#!/bin/sh' >reports/not-a-script.txt
echo "not ours" >/srv/shared/notice.txt
ln -s /srv/shared/notice.txt reports/notice.txt
chown -hR deploy:deploy /srv/drop
chgrp ops incoming
chmod 0777 incoming/march reports/q1.txt 'incoming/march/two words.csv'
chmod 0600 'old stuff/-rf' tools/clean.sh
chmod 0755 reports/not-a-script.txt
chown deploy:deploy /srv/shared/notice.txt
chmod 0666 /srv/shared/notice.txt
