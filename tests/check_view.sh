#!/bin/sh
# flashulp view from outside: pictures without a display, the same bytes every time; refusals, one
# sentence each, that leave nothing behind.  TAP on the output.  usage: tests/check_view.sh
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd) program=$build/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
unset DISPLAY WAYLAND_DISPLAY
matches 'help' '^usage: flashulp view ' "$("$program" view --help)"
if [ ! -x "$build/flashulp-view" ]; then
    matches 'a viewer that is not built says how to build it' \
        '/flashulp-view is not built: it needs libsdl2-dev and libpng-dev, then make$' \
        "$("$program" view fa2-4 2>&1)"
    skipped 'the viewer' 'SDL2 or libpng is missing: apt-get install libsdl2-dev libpng-dev'
    plan_end
    exit
fi

refused() { # SENTENCE WORDS...: exit 2, that one line, no output, no new file
    want="flashulp view: $1"
    shift
    before=$(ls -A)
    got=$("$program" view "$@" 2>&1)
    status=$?
    ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ "$(ls -A)" = "$before" ] && ok=yes
    verdict "refused: flashulp view $*" $ok "exit $status: $got
want: $want
files: $(ls -A | tr '\n' ' ')"
}

"$program" view fa2-4 --at RESCALE:1 -o a.png --render a.svg --describe >a.txt 2>&1
same 'a PNG, an SVG and words in one go' "$?$(ls | tr '\n' ' ')" '0a.png a.svg a.txt '
same 'a PNG is a PNG' "$(head -c 8 a.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
matches 'the words say what is true' \
    '^B fa2: m = 3, l = 0.50321472 \(-0.13 ulp\), O~ = 8.7109423 \(\+0.64 ulp\)' "$(cat a.txt)"
matches 'the SVG has them as its description' '^B fa2: m = 3, l = 0.50321472' "$(cat a.svg)"
matches 'and a title' '<title>One row, in lockstep: fa1, fa2 and exact</title>' "$(cat a.svg)"
if command -v xmllint >/dev/null 2>&1; then
    same 'the SVG is well-formed' "$(xmllint --noout a.svg 2>&1)" ''
fi
"$program" view fa2-4 --at RESCALE:1 -o b.png -o b.svg
same 'the same pictures again' "$(cmp a.png b.png; cmp a.svg b.svg)" ''
refused '-o a.png exists; give --force to replace it' fa2-4 --at 3 --render a.png
"$program" view fa2-4 --at 3 --render a.png --force
verdict 'another time is another picture' "$(cmp -s a.png b.png && echo no || echo yes)" ''
"$program" view fa2-4 --frames 8:9 --size 640x360 --render 'f_%04d.png' >frames.txt
same 'frames: eight a step' "$(ls f_*.png | tr '\n' ' ')" 'f_0000.png f_0001.png f_0002.png f_0003.png f_0004.png f_0005.png f_0006.png f_0007.png f_0008.png '
matches 'and the line that makes a film' '^ffmpeg .*-i f_%04d.png .*film.mp4$' "$(cat frames.txt)"
matches 'json' '"scene":.*"softmax"' "$("$program" view fa2-4 --describe --json)"

small='--generate gaussian --shape 1,4,1,1,200,128 --dtype bf16 --scene divergence'
text=$("$program" view $small --live page=sites --describe)
matches 'the sites that moved an output' '^A fa2:gpu-bf16: PROB [-+][0-9.]* [(]' "$text"
matches 'of kernels beside it, too' '^I xqa@H200: PROB ' "$text"
text=$("$program" view $small --live page=map --live values=unrounded --describe)
matches 'the map of the runs' '^unrounded values; distances in roundoffs 2\^-8 ' "$text"
matches 'runs that coincide' '^C fa2-split@B200 at .*; as B, as far as the models can tell$' "$text"
matches 'runs of one'"'"'s own' '^B paged-v2@H200 at ' \
    "$("$program" view $small --runs paged-v2@H200 --live page=map --describe)"
"$program" view $small --live page=map --at 3 --pin 7 --zoom 1.5,-20,10 --theme dark -o page.png
same 'pin, zoom and page are a picture'"'"'s, too' "$(head -c 8 page.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
matches 'a number of SMs that no GPU has' '^A a GPU, 131 SMs: 54 groups of 512 tokens' \
    "$("$program" view --scene decode --live SMs-of-A=131 --describe)"

"$program" trace fa2-4 --snapshots all -o whole.trace >/dev/null
matches 'a recorded run' '^A fa2: m = 3' "$("$program" view whole.trace --at RESCALE:1 --describe)"
"$program" trace fa2-4 -o stats.trace >/dev/null
head -c 900 whole.trace >cut.trace
{ head -c 400 whole.trace; printf X; tail -c +402 whole.trace; } >bad.trace
{ head -c 8 whole.trace; printf '\002'; tail -c +10 whole.trace; } >newer.trace
echo hello >foreign.trace
refused 'stats.trace: no values are kept; flashulp trace --snapshots all is right' stats.trace --describe
for file in cut bad newer foreign none; do
    want=$("$program" trace $file.trace --dump 2>&1 | sed 's/^flashulp trace: //')
    refused "$want" $file.trace --describe
done
"$program" view lanes.trace --at BARRIER:1 -o lanes.png --describe >lanes.txt 2>&1
matches 'the lanes of an emulated kernel: a race at its two source lines' \
    'one writes: warp 1, lane 0 writes at exchange.cu:20; warp 0, lane 0 read at exchange.cu:23' "$(cat lanes.txt)"
matches 'and the barrier where warps wait' '^  exchange.cu:21  a barrier: 8 warps stood there, [0-9]+ clocks waited' \
    "$(cat lanes.txt)"
if [ ! -x "$build/tests/lanes_example" ] || ! command -v addr2line >/dev/null 2>&1; then
    skipped 'lanes.trace is what the kernel does now' 'no C++ compiler, or no addr2line'
elif grep -q fsanitize "$build/FLAGS.setting"; then
    skipped 'lanes.trace is what the kernel does now' 'built with sanitizers; make test runs it'
else
    "$build/tests/lanes_example" "$folder/again.trace"
    "$program" view "$folder/again.trace" --at BARRIER:1 --describe >again.txt 2>&1
    same 'lanes.trace is what the kernel does now (make lanes-example)' "$(cmp lanes.txt again.txt 2>&1)" ''
fi
text=$(timeout 60 "$program" view fa2-4 2>&1)
matches 'no display: the picture, and the word that it is there' \
    '^no display: .*; the picture is in flashulp-softmax.png$' "$text"
"$program" view fa2-4 -o end.png
same 'it is the picture' "$(cmp end.png flashulp-softmax.png 2>&1)" ''
refused '--scene x: one of softmax, decode, tiles, machine, divergence, warps is right' fa2-4 --scene x
refused 'whole.trace: a recorded run has no sites and no others beside it' whole.trace --scene divergence --live page=sites --describe
refused '--theme x: light, dark or projector is right' fa2-4 --theme x
refused '--size 10x10: WIDTHxHEIGHT in pixels, 320x180 to 16384x16384, is right' fa2-4 --size 10x10 -o c.png
refused '--at 99: this view has times from 0 to 16' fa2-4 --at 99 -o c.png
refused '--at SCALE:1: this view has no such step; --describe names the steps' fa2-4 --at SCALE:1 -o c.png
refused '--live page=x: where is what the scene shows; another value, or the option of that name, is right' $small --live page=x
refused '--live color=x: NAME=VALUE is right; the scene'"'"'s names are page, policy' $small --live color=x
refused 'unknown kernel "paged-v3"; did you mean paged-v2?' $small --runs paged-v3@H200 --live page=map
refused '--pin x: a whole number from 1 to 536870911 is right' fa2-4 --pin x
refused '--zoom 0,0,0: Z,X,Y with Z from 0.25 to 64 is right' fa2-4 --zoom 0,0,0
refused '--frames goes with --render f_%04d.png' fa2-4 --frames 1:2
refused '--frames 5:90: FIRST:LAST, times from 0 to 16, is right' fa2-4 --frames 5:90 -o 'f%d.png'
refused '-o f.png: with --frames a name such as f_%04d.png is right' fa2-4 --frames 1:2 -o f.png
refused '-o f%s.png: with --frames a name such as f_%04d.png is right' fa2-4 --frames 1:2 -o 'f%s.png'
refused '-o f_%5d.png: with --frames a name such as f_%04d.png is right' fa2-4 --frames 1:2 -o 'f_%5d.png'
refused 'lanes.trace: it says what lanes did; the warps scene shows that' lanes.trace --scene tiles -o c.png
matches 'frames as .svg' '^9 pictures.  A film is made of .png ones.$' \
    "$("$program" view fa2-4 --frames 1:2 --size 640x360 --render 'g_%04d.svg')"
mkdir folder.png
refused '-o folder.png: not a regular file; name a new file' fa2-4 -o folder.png --force
refused '-o none/f_%d.png: cannot be created: No such file or directory' fa2-4 --frames 0:1 -o 'none/f_%d.png'
matches 'an output that is full' '^flashulp view: the output cannot be written: ' \
    "$([ -w /dev/full ] && "$program" view fa2-4 --describe 2>&1 >/dev/full || echo 'flashulp view: the output cannot be written: ')"
refused '-o c.gif: the ending says what is written; one of .png, .svg is right' fa2-4 -o c.gif
refused '-o /nowhere/c.png: cannot be created: No such file or directory' fa2-4 -o /nowhere/c.png
refused 'unknown option --secne; did you mean --scene?' fa2-4 --secne softmax
plan_end
