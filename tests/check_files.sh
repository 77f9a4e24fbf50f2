#!/bin/sh
# Whatever a name may stand for, given to every verb and option that takes a file: exit 2, one whole
# sentence, at once and in little memory.  TAP on the output.
# usage: tests/check_files.sh   (FLASHULP_BUILD: build)
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
. "$(dirname "$0")/tap.sh"
readers=$(cd tests/data/readers && pwd) traces=$(cd tests/fuzz/corpus/trace && pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
case $program in *-asan/*) memory=unlimited ;; *) memory=1000000 ;; esac # KiB of address space

# refused SENTENCE VERB WORDS...
refused() {
    want="flashulp $1"
    shift
    got=$(ulimit -v $memory && timeout 20 "$program" "$@" 2>&1 </dev/null)
    status=$?
    same "refused: flashulp $*" "exit $status: $got" "exit 2: $want"
}

# Every place for a file to be read: what stands there, and why it is refused.
everywhere() { # file, reason, reason where a single .npy is wanted, where a trace, where a tree, where
    # a folder may stand
    npy=${3:-$2} trace=${4:-$2} tree=${5:-$2} dump=$6
    for verb in walk exact run audit; do refused "$verb: $1: ${dump:-$2}" $verb "$1"; done
    refused "trace: $1: $trace" trace "$1"
    refused "run: $1: $npy" run --q "$1" --k ok.npy --v ok.npy
    refused "run: $1: $npy" run --q ok.npy --k "$1" --v ok.npy
    refused "run: $1: $npy" run --q ok.npy --k ok.npy --v "$1"
    refused "audit: $1: ${dump:-$npy}" audit fa2-4 --runs "file:$1"
    refused "compare: $1: $2" compare ok.npy ok.npy --exact "$1"
    refused "run: --order ROW_SUM: $1: $tree" run fa2-4 --order "ROW_SUM=tree:$1"
    [ -d "$1" ] && return
    refused "compare: $1: $2" compare "$1" ok.npy
    refused "compare: $1: $2" compare ok.npy "$1"
}

# The places for a device's file, whose name ends in .json, and for a file within two folders.
device() { # file, reason
    ln -s "$1" device.json
    refused "splits: device.json: $2" splits --heads-kv 4 --len 100 --device H200,device.json
    refused "plan: device.json: $2" plan 8k --device A100,device.json
    refused "run: device.json: $2" run fa2-4 --kernel fa2-split --device device.json
    refused "run: device.json: $2" run fa2-4 --kernel fa2-split@device.json
    rm device.json
}
within() { # file, reason
    ln -s "$PWD/$1" a/x.npy && ln -s "$PWD/$1" b/x.npy
    refused "compare: a/x.npy: $2" compare a b
    rm a/x.npy b/x.npy
}

# Every place for a file to be written.
nowhere() { # file
    rest="not a regular file; name a new file"
    refused "run: -o $1: $rest" run fa2-4 -o "$1" --force
    refused "run: --out $1: $rest" run fa2-4 --out "$1" --force
    refused "run: --lse $1: $rest" run fa2-4 --lse "$1" --force
    refused "trace: --perfetto $1: $rest" trace fa2-4 --perfetto "$1" --force
    refused "compare: -o $1: $rest" compare ok.npy ok.npy -o "$1" --force
}

cp "$readers/v1.npy" ok.npy
mkdir a b folder.trace && mkfifo pipe.trace
ln -s nowhere dangling.trace && ln -s loop.trace loop.trace
ln -s folder.trace to_folder.trace && ln -s pipe.trace to_pipe.trace
everywhere missing.trace "no such file"
everywhere dangling.trace "a symbolic link to a file that is not there"
everywhere loop.trace "symbolic links that lead to no file"
folder="a folder, not a regular file"
no_dump="neither it nor a folder in it has a metadata.jsonl, as FlashInfer dumps a call"
everywhere folder.trace "$folder" "$folder" "$folder" "$folder" "$no_dump"
everywhere to_folder.trace "$folder" "$folder" "$folder" "$folder" "$no_dump"
everywhere pipe.trace "a pipe, not a regular file"
everywhere to_pipe.trace "a pipe, not a regular file"
everywhere /dev/zero "a device, not a regular file"
everywhere ok.npy/below "cannot be opened: Not a directory"
refused "compare: folder.trace is a folder, ok.npy is not; two files or two folders are right" \
    compare ok.npy folder.trace
refused "compare: to_folder.trace is a folder, ok.npy is not; two files or two folders are right" \
    compare to_folder.trace ok.npy
device missing.trace "a symbolic link to a file that is not there"
device folder.trace "a folder, not a regular file"
device pipe.trace "a pipe, not a regular file"
device /dev/zero "a device, not a regular file"
device loop.trace "symbolic links that lead to no file"
within missing.trace "a symbolic link to a file that is not there"
within pipe.trace "a pipe, not a regular file"
within loop.trace "symbolic links that lead to no file"

# A terabyte that lies on no disk: without a first byte, and behind a sound one.
if truncate -s 1T holes.trace 2>/dev/null; then
    unknown="neither .npy, .npz nor .safetensors, by its first bytes"
    everywhere holes.trace "$unknown" "$unknown" "not a trace: a trace begins with ULPTRACE" \
        "1099511627776 bytes; at most 1048576 are read"
    device holes.trace "1099511627776 bytes; at most 65536 are read"
    within holes.trace "$unknown"
    hollow="a sparse file of 1024.0 GiB, nearly all of it holes; cp --sparse=never fills them"
    for file in "$readers/v1.npy" "$readers/stored.npz" "$readers/official.safetensors" \
        "$traces/all.trace"; do
        cp "$file" hollow.trace && truncate -s 1T hollow.trace && everywhere hollow.trace "$hollow"
    done
else
    echo "# note sparse files are not tested: this file system has none of 1 TiB"
fi

mkdir out.json && nowhere out.json && rmdir out.json
mkfifo out.json && nowhere out.json && rm out.json
ln -s /dev/null out.json && nowhere out.json
plan_end
