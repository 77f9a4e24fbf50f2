#!/bin/sh
# make dist: BUILD/flashulp-VERSION.tar.gz, the files git knows (without git: all but build folders)
# and .revision, what git calls them.  The same files give the same bytes.
# usage: packaging/dist.sh BUILD VERSION REVISION
set -e
name=flashulp-$2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$1" "$work/$name"
git ls-files >"$work/list" 2>/dev/null ||
    find . -type f ! -path './build*' ! -path './.git/*' ! -name .revision | sed 's,^\./,,' >"$work/list"
tar -cf - -T "$work/list" | tar -xf - -C "$work/$name"
[ -z "$3" ] || echo "$3" >"$work/$name/.revision"
find "$work/$name" -exec touch -d 2020-01-01T00:00:00Z {} +
(cd "$work" && find "$name" -type f | LC_ALL=C sort | tar --owner=0 --group=0 --numeric-owner -cf - -T -) |
    gzip -n >"$work/$name.tar.gz"
mv "$work/$name.tar.gz" "$1/"
echo "$1/$name.tar.gz"
