#!/bin/bash
# What the last developer left behind, and the list of what belongs into a package.
set -e
cd /app
touch src/.pocket.swp 'src/pocket copy' src/lib/debug.log
printf '%s\n' VERSION CHANGELOG.md src/pocket src/lib/list.awk src/lib/sort.awk >package.list
