#!/bin/bash
set -euo pipefail
cat >/srv/routes/site.conf.new <<'END'
# Routes of the shop.

location /api/ {
    proxy_set_header X-Real-IP $remote_addr;
    proxy_pass http://127.0.0.1:9001/;
}

location /docs/ {
    proxy_pass http://127.0.0.1:9002;
}

location /v0/ {
    rewrite ^/v0/(.*)$ /api/$1 permanent;
}

location ^~ /internal/ {
    return 404;
}
END
mv /srv/routes/site.conf.new /srv/routes/site.conf
for _ in {1..20}; do
    if [ "$(curl -fsS http://web:8080/docs/start)" = 'manual /docs/start' ]; then exit 0; fi
    sleep 0.2
done
cat /srv/routes/check.txt
exit 1
