#!/bin/bash
set -euo pipefail
{
    printf '#!/bin/bash\n# %s\n' "${SCRIPT_COMMENT:?}"
    cat <<'END'
set -uo pipefail
shopt -s nullglob
day=$1
cd "$LOG_DIR" 2>/dev/null || exit 2
for log in *.log; do
    archive=${log%.log}-$day.log.gz
    if [ ! -s "$log" ] || [ -e "$archive" ]; then continue; fi
    gzip -c <"$log" >"$archive.part" && mv "$archive.part" "$archive" && : >"$log" && echo "$archive"
done
oldest=$(date -u -d "$day - $KEEP_DAYS days" +%F)
for archive in *-????-??-??.log.gz; do
    date=${archive%.log.gz}
    date=${date: -10}
    if [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ && $date < $oldest ]]; then rm -- "$archive"; fi
done
exit 0
END
} >/app/bin/rotate
chmod 755 /app/bin/rotate
cp -r "$LOG_DIR" /tmp/logs
(cd / && env -i PATH=/usr/bin:/bin LOG_DIR=/tmp/logs KEEP_DAYS="$KEEP_DAYS" /app/bin/rotate 2026-03-14)
ls -l /tmp/logs
