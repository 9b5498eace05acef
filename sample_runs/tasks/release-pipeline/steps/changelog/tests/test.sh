#!/bin/bash
. /tests/checks.sh

changelog() {
    diff /app/CHANGELOG.md - <<'END'
## 1.5.0

### Added

- read the list from standard input
- sort by price with --sort

### Fixed

- keep umlauts in names
- an empty list is not an error
END
}

check 'the version is the next minor one' test "$(cat /app/VERSION)" = 1.5.0
check 'the changelog' changelog
finish
