#!/bin/sh
# The outputs shown in README.md are what the command prints today.
if tests/readme.sh "${FLASHULP_BUILD:-build}" | diff - README.md >/tmp/readme.$$ 2>&1; then
    echo "ok 1 - README shows what the command prints"
else
    echo "not ok 1 - README shows something else; tests/readme.sh build > README.new says what"
    sed 's/^/# /' /tmp/readme.$$
fi
rm -f /tmp/readme.$$
