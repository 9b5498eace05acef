#!/bin/bash
. /tests/checks.sh
logs='/tmp/logs of a test'

rotate() { (cd / && env -i PATH=/usr/bin:/bin LOG_DIR="${2-$logs}" KEEP_DAYS=3 /app/bin/rotate "$1"); }

rm -rf "$logs" && mkdir "$logs"
echo 'first day' >"$logs/app.log"
printf 'a\nb\n' >"$logs/nightly jobs.log"
: >"$logs/empty.log"
echo 'already here' | gzip >"$logs/done-$TODAY.log.gz" && echo 'later the same day' >"$logs/done.log"
for day in 2026-03-09 2026-03-10 2026-03-11 2026-03-13 2025-12-31; do echo "$day" | gzip >"$logs/app-$day.log.gz"; done
echo keep >"$logs/notes-2025-01-01.txt" && echo keep >"$logs/app-2025-01-01.log.gz.bak"
chmod 640 "$logs/app.log" && chown www-data "$logs/app.log"
before=$(stat -c '%i %U %a' "$logs/app.log")
said=$(rotate "$TODAY")
code=$?

says() { [ "$code" -eq 0 ] && diff <(echo "$said" | grep -c .) <(echo 2); }
archived() {
    [ "$(zcat "$logs/app-$TODAY.log.gz")" = 'first day' ] && [ "$(zcat "$logs/nightly jobs-$TODAY.log.gz")" = $'a\nb' ]
}
emptied() { [ "$(stat -c '%i %U %a %s' "$logs/app.log")" = "$before 0" ] && [ ! -s "$logs/nightly jobs.log" ]; }
no_archive_of_nothing() { [ -e "$logs/empty.log" ] && [ ! -e "$logs/empty-$TODAY.log.gz" ]; }
nothing_lost() {
    [ "$(zcat "$logs/done-$TODAY.log.gz")" = 'already here' ] && [ "$(cat "$logs/done.log")" = 'later the same day' ]
}
old_deleted() {
    local day
    for day in 2026-03-09 2026-03-10 2025-12-31; do [ ! -e "$logs/app-$day.log.gz" ] || return 1; done
    [ -e "$logs/app-2026-03-11.log.gz" ] && [ -e "$logs/app-2026-03-13.log.gz" ]
}
others_kept() { [ -e "$logs/notes-2025-01-01.txt" ] && [ -e "$logs/app-2025-01-01.log.gz.bak" ]; }
no_folder() {
    rotate "$TODAY" /nowhere
    [ $? -eq 2 ]
}

check 'says one line an archive' says
check 'logs are archived' archived
check 'logs are emptied in place' emptied
check 'an empty log gives no archive' no_archive_of_nothing
check 'a second run of a day loses nothing' nothing_lost
check 'old archives are deleted' old_deleted
check 'other files are not touched' others_kept
check 'no folder: 2' no_folder
finish
