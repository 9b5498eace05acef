#!/bin/bash
. /tests/checks.sh
cd /srv/drop || cd /

none() { [ -z "$("$@" 2>&1)" ] || { "$@"; return 1; }; }
as_group() {
    local left
    touch incoming/march/.by-auditor && left=$(stat -c %G incoming/march/.by-auditor)
    rm -f incoming/march/.by-auditor
    [ "$left" = ops ]
}
contents() {
    diff <(find . -type f -exec sha256sum {} + | sort -k 2) /tests/contents.sha256
}
notice() { [ "$(stat -c '%U:%G %a' /srv/shared/notice.txt)" = 'deploy:deploy 666' ]; }

check 'I am the auditor' test "$(id -un)" = auditor
check 'everything belongs to ops' none find /srv/drop ! -type l ! -group ops
check 'folders: group may enter and write, setgid' none find /srv/drop -type d ! -perm 2770
check 'what I create belongs to ops' as_group
check 'files: group reads, does not write' none find /srv/drop -type f \( ! -perm -g=r -o -perm /g=w \)
check 'others: nothing' none find /srv/drop ! -type l -perm /o=rwx
check 'scripts can be run' none find /srv/drop -type f -name '*.sh' ! -perm -ug=x
check 'other files can not' none find /srv/drop -type f ! -name '*.sh' -perm /a=x
check 'contents and names are as before' contents
check 'the link is there, its target untouched' test -L reports/notice.txt
check 'what it points to was left alone' notice
finish
