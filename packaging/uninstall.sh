#!/bin/sh
# make uninstall: removes what share/flashulp/installed names, and the folders install made if they
# are empty.  usage: packaging/uninstall.sh PREFIX DESTDIR
root=$2$1
note=$root/share/flashulp/installed
if [ ! -f "$note" ]; then
    echo "make uninstall: $note: no such file; PREFIX and DESTDIR as for make install are right" >&2
    exit 2
fi
if grep -qE '^/|(^|/)\.\.(/|$)' "$note"; then
    echo "make uninstall: $note names files outside $root; nothing was removed" >&2
    exit 2
fi
list=$(mktemp) && trap 'rm -f "$list"' EXIT INT TERM
cp "$note" "$list" || exit
grep -v '/$' "$list" | while IFS= read -r file; do rm -f "$root/$file"; done
grep '/$' "$list" | sort -ru | while IFS= read -r folder; do
    path=$root/${folder#./}
    rmdir "$path" 2>/dev/null || [ ! -d "$path" ] || echo "kept $path: not empty"
done
echo "removed from $root"
