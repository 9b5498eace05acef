#!/bin/bash
set -euo pipefail
cd /app/etc
sed -i.bak -E 's/^port = 84433 ?/port = 8443  /; s/^(log_level =).*/\1 warn/; s/^(idle_timeout =) 90 /\1 90s/; s/shop\.cfg/shop.conf/' gateway.conf
sed -i.bak 's/^read_timout /read_timeout /' sites/shop.conf
sed -i.bak -e '/^enabled = off$/d' -e 's/^enabled = yes/enabled = on/' -e 's/^upstream = 10.4.0.12$/&:9002/' sites/docs.conf
/app/bin/checkconf --dump /app/etc
