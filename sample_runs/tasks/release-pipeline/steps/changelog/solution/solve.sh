#!/bin/bash
set -euo pipefail
section() { tac commits.txt | sed -nE "s/^[0-9a-f]+ $1!?: /- /p"; }

IFS=. read -r major minor patch <VERSION
if grep -qE '^[0-9a-f]+ [a-z]+!:' commits.txt; then
    version=$((major + 1)).0.0
elif grep -qE '^[0-9a-f]+ feat:' commits.txt; then
    version=$major.$((minor + 1)).0
else
    version=$major.$minor.$((patch + 1))
fi
echo "$version" >VERSION
printf '## %s\n\n### Added\n\n%s\n\n### Fixed\n\n%s\n' "$version" "$(section feat)" "$(section fix)" >CHANGELOG.md
cat CHANGELOG.md
