#!/bin/bash
set -euo pipefail
cd /srv/drop
find . ! -type l -exec chgrp ops {} +
find . -type d -exec chmod 2770 {} +
find . -type f ! -name '*.sh' -exec chmod 0640 {} +
find . -type f -name '*.sh' -exec chmod 0750 {} +
ls -lR
