#!/bin/sh
# Gradescope runs this once, as root, in Ubuntu 22.04: packages, then the grader.
set -e
root=${AUTOGRADER:-/autograder}
chmod 700 "$root/source"
if [ -z "$AUTOGRADER_BUILT" ]; then
    apt-get update
    apt-get install -y build-essential g++ pkg-config libmpfr-dev libgsl-dev libcjson-dev
fi
mkdir -p "$root/source/flashulp"
tar -xzf "$root/source/flashulp.tar.gz" -C "$root/source/flashulp"
if [ -z "$AUTOGRADER_BUILT" ]; then
    make -s -j2 -C "$root/source/flashulp" build/flashulp build/flashulp-lab build/libemulator.a
else # a test on this machine: programs that are built already
    mkdir -p "$root/source/flashulp/build"
    for file in flashulp flashulp-lab libemulator.a libflashulp.a; do
        cp "$AUTOGRADER_BUILT/$file" "$root/source/flashulp/build/"
    done
fi
