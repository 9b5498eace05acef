#!/bin/bash
. /tests/checks.sh

column() { diff <(cut -f "1,$1" /tests/expected.tsv) <(cut -f "1,$1" /app/slowest.tsv); }

check 'how often' column 2
check 'the longest' column 3
check 'the first of the longest' column 4
check 'the whole file' cmp /tests/expected.tsv /app/slowest.tsv
finish
