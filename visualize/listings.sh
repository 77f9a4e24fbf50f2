#!/bin/sh
# Prints LISTING(path, text) for every file named: for listing.c.
for file in "$@"; do
    printf 'LISTING("%s",\n' "$file"
    sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/' "$file"
    printf ')\n'
done
