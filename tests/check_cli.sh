#!/bin/sh
# The command from outside: every refusal compared whole (exit 2, one sentence, nothing written), and
# what the verbs print.  TAP on the output.  usage: tests/check_cli.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
unset NO_COLOR

# refused SENTENCE [-e NAME=VALUE] VERB WORDS...: exit 2, that one line, no output, no new file
refused() {
    want="flashulp $1"
    shift
    before=$(ls -A | sort) setting=
    if [ "$1" = -e ]; then
        setting=$2
        shift 2
    fi
    env $setting "$program" "$@" >../out.$$ 2>../err.$$
    status=$?
    got=$(cat ../err.$$)
    ok=yes
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s ../out.$$ ] || ok=no
    [ "$(ls -A | sort)" = "$before" ] || ok=no
    verdict "refused: flashulp $*" $ok "exit $status: $got
want: $want
output: $(head -c 200 ../out.$$)
files: $(ls -A | tr '\n' ' ')"
    rm -f ../out.$$ ../err.$$
}

# prints STATUS PATTERN VERB WORDS...: that exit status, a line of the output matching the pattern
prints() {
    want=$1 pattern=$2
    shift 2
    got=$("$program" "$@" 2>&1)
    status=$?
    ok=no
    [ $status -eq "$want" ] && printf '%s\n' "$got" | grep -q -e "$pattern" && ok=yes
    verdict "flashulp $* prints $pattern" $ok "exit $status
$got"
}

# --- verbs and options
refused 'rum: no such verb; did you mean run?' rum fa2-4
refused 'xyzzy: no such verb; flashulp --help lists them' xyzzy
refused 'run: unknown option --polcy; did you mean --policy?' run fa2-4 --polcy fp32
refused 'run: unknown option --xyzzy; flashulp run --help lists the options' run fa2-4 --xyzzy
refused 'exact: --policy is an option of walk, run, audit, view and trace, not of exact' exact fa2-4 --policy fp32
refused 'run: --policy needs a word after it: NAME' run fa2-4 --policy
refused 'run: --dq goes with --do FILE.npy, --do ones or --do random:SEED' run fa2-4 --dq dq.npy
refused 'run: --rows goes without --do, which is about every gradient' run fa2-4 --do ones --rows 0
refused 'run: --do twos: ones, random:SEED or FILE.npy is right' run fa2-4 --do twos
refused 'run: --atomic-seed and --deterministic: one is right' \
    run fa2-4 --do ones --atomic-seed 1 --deterministic H100-SXM
refused 'run: --arrivals all: 9 key tiles have more than 40,320 orders; --arrivals N draws N of them' \
    run --generate gaussian --shape 1,1,1,1,9,2 --tile 1,1 --do ones --arrivals all
refused 'run: fa2-split takes bf16 or fp16, Q, K and V hold fp32; --dtype bf16 is right' \
    run fa2-4 --kernel fa2-split@H200
refused 'run: fa2-split takes head sizes 32 64 96 128 192 256; D is 1' \
    run fa2-4 --dtype bf16 --kernel fa2-split@H200
refused 'run: unknown kernel "fa2-splt"; did you mean fa2-split?' run fa2-4 --kernel fa2-splt
refused 'run: fa3 is not modelled (schedule rule not established). To get evidence today, pin num_splits=1 on both machines, or one FA2 wheel (flash-attn 2.5.7 or later)' \
    run fa2-4 --kernel fa3@H200
refused 'run: H20 is no device; H200 (132 SMs) is right' run fa2-4 --kernel fa2@H20
refused 'run: fa2: "new" is no version; three numbers such as 2.5.6 are right' run fa2-4 --kernel fa2:new
refused 'run: fa2 is modelled from version 2.0 on; 1.0.9 is older' run fa2-4 --kernel fa2:1.0.9
refused 'run: --option exp-arg: one of "fused separate" is right, as in exp-arg=fused' \
    run fa2-4 --kernel fa2 --option exp-arg=both
refused 'run: --option tile=3: fa2 has no such switch; it has exp-arg, old-sum' \
    run fa2-4 --kernel fa2 --option tile=3
refused 'run: --option is for kernel models and decode; --kernel names one' run fa2-4 --option exp-arg=fused
refused 'run: --tile: a kernel has its own tiles' run fa2-4 --kernel fa2 --tile 1,1
refused 'run: fa2-4 and p1: one is right' run fa2-4 p1

refused '--man: fa2: no such verb; flashulp --help lists them' --man fa2
refused "--completion: 'csh': bash, zsh or fish is right" --completion csh
refused '--completion: bash, zsh or fish is right' --completion

# --- names
refused 'run: unknown algorithm "fa3"; did you mean fa1?' run fa2-4 --algorithm fa3
refused 'run: unknown algorithm "flash"; flashulp list algorithms' run fa2-4 --algorithm flash
refused 'run: no policy is called "gpu-bf61"; did you mean gpu-bf16?' run fa2-4 --policy gpu-bf61
refused 'run: --set: no site is called "PROBE"; did you mean PROB?' run fa2-4 --set PROBE=bf16
refused "run: --set PROB: unknown format 'bf61': the formats are exact, fp64, fp32, fp32-ftz, tf32, fp16, bf16, e4m3, e5m2" \
    run fa2-4 --set PROB=bf61
refused 'run: unknown fault "tile-mox"; did you mean tile-max?' \
    run fa2-4 --algorithm fa2-printed --fault tile-mox
refused 'run: --fault tile-max: fa2 has no such fault; fa2-printed has them all' \
    run fa2-4 --fault tile-max
refused 'run: no family is named gausian; did you mean gaussian?' \
    run --generate gausian --shape 1,1,1,1,1,1
refused 'run: no example is named fa2-5; did you mean fa2-4?' run fa2-5
refused 'list: no table is named formts; did you mean formats?' list formts
refused 'claims: no claim is called "A99"; did you mean A9?' claims A99
refused 'claims: no claim is called "everything"; flashulp claims lists them' claims everything
refused 'claims: --policy is an option of walk, run, audit, view and trace, not of claims' claims --policy fp32
refused 'claims: A1 and A2: one is right' claims A1 A2
refused 'run: --explain is an option of claims, not of run' run fa2-4 --explain
refused 'claims: -o r.svg: the ending says what is written; one of .html, .md, .json, .csv is right' \
    claims -o r.svg

# --- problems
refused 'run: no problem is named; an example (fa2-4), a .safetensors or .npz file, --q --k --v, --scores --values, or --generate is right' run
refused 'run: --scores and --values go together' run --scores '1 2'
refused 'run: fa2-4 and --scores each name a problem; one is right' run fa2-4 --scores 1 --values 1
refused 'run: tile 1 has 2 scores but 1 values' run --scores '1 2' --values 1
refused "run: --scores: 'x' is no number; blanks separate numbers, | ends a tile" \
    run --scores '1 x' --values '1 2'
refused 'run: --generate needs --shape B,Hq,Hkv,Nq,Nk,D' run --generate gaussian
refused 'run: --shape 1,3,2,4,4,8: Hq 3 is not a multiple of Hkv 2' \
    run --generate gaussian --shape 1,3,2,4,4,8
refused 'run: --shape 1,2: B,Hq,Hkv,Nq,Nk,D, 6 whole numbers, is right' \
    run --generate gaussian --shape 1,2
refused 'run: --shape 1048576,1048576,1,1048576,1,1048576: more elements than 2^48' \
    run --generate gaussian --shape 1048576,1048576,1,1048576,1,1048576
refused 'run: --shape 281474976710656,1,1,281474976710656,1,1: more elements than 2^48' \
    run --generate gaussian --shape 281474976710656,1,1,281474976710656,1,1
refused 'run: --shape 99999999999999999999,1,1,1,1,1: B,Hq,Hkv,Nq,Nk,D, 6 whole numbers, is right' \
    run --generate gaussian --shape 99999999999999999999,1,1,1,1,1
refused 'run: --window -2,0: a side is -1 (unlimited) or 0 and more' run fa2-4 --window -2,0
refused 'run: --softcap -1: 0 (none) or a positive number is right' run fa2-4 --softcap -1
refused 'run: --softcap nan: 0 (none) or a positive number is right' run fa2-4 --softcap nan
refused 'run: --scale inf: a finite number is right' run fa2-4 --scale inf
refused 'run: --scale 1e400: a number that a double can hold is right' run fa2-4 --scale 1e400
refused 'run: --softcap 1e-400: a number that a double can hold is right' run fa2-4 --softcap 1e-400
refused 'run: --cu-seqlens of k ends with 1, but k has 4 rows' run fa2-4 --cu-seqlens 0,1
refused 'run: --tile 0,-1: -1 is outside 0 to 65536' run fa2-4 --tile 0,-1
refused 'run: --threads 0: a whole number from 1 to 1024 is right' run fa2-4 --threads 0
refused 'exact: --digits 0: a whole number from 1 to 100000 is right' exact fa2-4 --digits 0
refused 'exact: --rows 1: numbers from 0 to 0 and ranges of them are right' exact fa2-4 --rows 1
refused 'run: --arith float cannot hold site CONST of this policy, which is wider than fp32; --arith double or mpfr is right' \
    run fa2-4 --policy exact --arith float
refused 'run: standard: tiles of 200,000 queries and 200,000 keys, D 1, hold more than 2^30 numbers; smaller ones are right, such as fa2 has' \
    run --generate gaussian --shape 1,1,1,200000,200000,1 --algorithm standard
refused 'run: fa2: tiles of 65,536 queries and 65,536 keys, D 1, hold more than 2^30 numbers; smaller ones are right' \
    run fa2-4 --tile 65536,65536

# --- an option that would do nothing, or undo another
refused 'run: --precision is for mpfr, and this run is in float; --arith mpfr is right' \
    run fa2-4 --precision 100
refused 'walk: --precision is for mpfr, and this run is in double; --arith mpfr is right' \
    walk fa2-4 --precision 100 --arith double
refused 'run: --causal-align goes with --causal or --window' run fa2-4 --causal-align top-left
refused 'exact: --causal-align goes with --causal or --window' \
    exact fa2-4 --window -1,-1 --causal-align bottom-right
refused 'run: --set names PROB twice; once is right' run fa2-4 --set PROB=bf16 --set PROB=fp16
refused 'run: --order names ROW_SUM twice; once is right' \
    run fa2-4 --order ROW_SUM=seq --order OUT_ACC=seq --order ROW_SUM=pairwise

# --- captures that have names
source=$(cd "$(dirname "$program")/../tests/data" 2>/dev/null && pwd)
if [ -n "$source" ]; then
    prints 0 'ex2 table:sample.tab, rest cr' run fa2-4 --special "table:$source/sample.tab"
    prints 0 'ex2 table:sample.tab, rest cr' walk fa2-4 --special "table:$source/sample.tab"
    prints 0 '"sha256":.*"eeaf87277bc3184617cf1d1fb3047598d9fbfe609c503e15d08228b9669a05dc"' \
        run fa2-4 --special "table:$source/sample.tab" --json
    head -c 1000 "$source/sample.tab" >cut.tab
    refused 'run: --special table: cut.tab has 1000 bytes and says it has 4400: it was cut off, or something was added' \
        run fa2-4 --special table:cut.tab
    rm cut.tab
fi
refused 'run: FLASHULP_DATA is /nowhere, which has no minilm-layer4.safetensors; the folder that has it, such as tests/data of the source, is right' \
    -e FLASHULP_DATA=/nowhere run minilm-4
if [ -e /usr/local/share/flashulp/data/minilm-layer0.safetensors ]; then
    echo "# note a capture that is nowhere: not tried, one is installed in /usr/local"
else
    mkdir -p far/bin && cp "$program" far/bin/
    far=$(cd far && pwd -P) near=$program program=$far/bin/flashulp
    refused "run: minilm-layer0.safetensors is in none of $far/{tests/data,share/flashulp/data}, ./tests/data and /usr/local/share/flashulp/data; set FLASHULP_DATA to the folder that has it" \
        run minilm-0
    program=$near
fi

# --- files
printf 'not a tensor at all' >junk.npy
printf 'not a tensor at all' >junk.safetensors
printf '\200\002}q\000.' >model.pt
: >empty.npy
mkdir folder.npy
"$program" run --generate gaussian --shape 1,4,2,3,5,8 -o cap.safetensors --out o.npy --lse l.npy \
    >/dev/null || echo "not ok 0 - files to test with"
head -c 100 o.npy >cut.npy
refused 'run: gone.npy: no such file' run --q gone.npy --k o.npy --v o.npy
refused 'run: gone.safetensors: no such file' run gone.safetensors
refused 'run: --q, --k and --v go together; --k is missing' run --q o.npy --v o.npy
refused 'run: junk.npy: neither .npy, .npz nor .safetensors, by its first bytes' \
    run --q junk.npy --k o.npy --v o.npy
refused 'run: junk.safetensors: neither .npy, .npz nor .safetensors, by its first bytes' \
    run junk.safetensors
refused 'run: empty.npy: the file is empty' run --q empty.npy --k o.npy --v o.npy
refused 'run: folder.npy: a folder, not a regular file' run --q folder.npy --k o.npy --v o.npy
refused "run: model.pt: a PyTorch file, which can run code and is not read; convert it: python3 -c \"import sys, torch, safetensors.torch as s; s.save_file({k: v.contiguous() for k, v in torch.load(sys.argv[1], map_location='cpu').items()}, sys.argv[2])\" IN.pt OUT.safetensors" \
    run model.pt
refused 'run: o.npy: one .npy tensor; a file of several is wanted (.npz, .safetensors)' run o.npy
refused 'run: q (1, 4, 3, 8), k (1, 4, 3, 8), v (1, 4, 3) as (B, H, N, D): v has another D than q and k, which is not supported' \
    run --q o.npy --k o.npy --v l.npy
refused 'trace: cut.trace: no such file' trace cut.trace

# --- outputs
echo kept >there.json
refused 'run: -o there.json exists; give --force to replace it' run fa2-4 -o there.json
same 'a refused command leaves the file alone' "$(cat there.json)" kept
echo kept >there.npy
refused 'run: --out there.npy exists; give --force to replace it' run fa2-4 --out there.npy
refused 'run: -o report.txt: the ending says what is written; one of .json, .md, .csv, .safetensors is right' \
    run fa2-4 -o report.txt
refused 'exact: -o o.safetensors: the ending says what is written; one of .json, .md, .csv, .svg is right' \
    exact fa2-4 -o o.safetensors
refused 'exact: -o o.svg: the ending says what is written; one of .json, .md, .csv is right' \
    exact fa2-4 --do ones -o o.svg
refused 'exact: -o .svg: a picture shows one row, 2 are selected; --heads, --rows say which' \
    exact --generate gaussian --shape 1,1,1,2,4,4 -o o.svg
refused 'exact: -o .svg: a picture shows 1 to 40 visible keys with finite scores and values; this row has others' \
    exact --generate gaussian --shape 1,1,1,1,41,4 -o o.svg
refused 'exact: --figure weight: one of these is right: weights exponentials' \
    exact fa2-4 --figure weight -o o.svg
refused 'bits: -o o.svg: there is nothing to draw here' bits nan -o o.svg
refused 'run: -o o.svg: the ending says what is written; one of .json, .md, .csv, .safetensors is right' \
    run fa2-4 -o o.svg
refused 'trace: -o t.json: the ending says what is written; one of .trace is right' \
    trace fa2-4 -o t.json
refused 'run: -o nowhere/a.json: cannot be created: No such file or directory' \
    run fa2-4 -o nowhere/a.json
refused 'run: --out /dev/full: not a regular file; name a new file' run fa2-4 --out /dev/full
refused 'run: -o and -o both name a.json' run fa2-4 -o a.json -o a.json
refused 'run: -o a.npy: the ending says what is written; one of .json, .md, .csv, .safetensors is right' \
    run fa2-4 -o a.npy

# A full disk, as a limit on the size of files: nothing is kept, not even what was written before.
full() {
    want="flashulp $1"
    shift
    before=$(ls -A | sort)
    got=$( (trap '' XFSZ; ulimit -f 8; "$program" "$@") 2>&1 >/dev/null)
    status=$?
    ok=yes
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ "$(ls -A | sort)" = "$before" ] || ok=no
    verdict "full disk: flashulp $*" $ok "exit $status: $got
want: $want
files: $(ls -A | tr '\n' ' ')"
}
full 'run: big.npy: cannot be written: File too large; nothing was kept' \
    run --generate gaussian --shape 1,1,1,64,64,64 --out big.npy
full 'run: big.csv: cannot be written: File too large; nothing was kept' \
    run --generate gaussian --shape 1,1,1,64,64,64 --lse small.npy -o big.csv
full 'run: big.safetensors: cannot be written: File too large; nothing was kept' \
    run --generate gaussian --shape 1,1,1,64,64,64 -o big.safetensors
full 'run: big.safetensors: cannot be written: File too large; nothing was kept' \
    run --generate gaussian --shape 1,1,1,64,64,64 --lse small.npy -o big.safetensors
full 'claims: big.html: cannot be written: File too large; nothing was kept' \
    claims -o big.html
if [ -w /dev/full ]; then
    for verb in 'run fa2-4' 'exact fa2-4' 'run fa2-4 --json' 'bits 0.1' 'list'; do
        # shellcheck disable=SC2086
        got=$("$program" $verb -o undone.md 2>&1 >/dev/full)
        same "full output: flashulp $verb" "$? $got $(ls undone.md 2>/dev/null)" \
            "2 flashulp ${verb%% *}: the output cannot be written: No space left on device "
    done
fi

# --- what the verbs print
prints 0 '0x41C76987' run fa2-4 --precision 100 --arith mpfr
prints 0 '0x' run fa2-4 --policy exact --precision 100
prints 0 '0x' run fa2-4 --causal --causal-align top-left
prints 0 '0x' run fa2-4 --window 1,0 --causal-align top-left
prints 0 'fp32+' run fa2-4 --set PROB=bf16 --set PROB_RESCALE=fp16 --order ROW_SUM=pairwise
prints 0 '^usage: flashulp VERB' --help
prints 0 '^usage: flashulp run PROBLEM' run --help
prints 0 '^flashulp 0' --version
prints 0 '0x41C76987' run fa2-4
prints 0 '24.875  *0x41C7$' run fa2-4 --policy gpu-bf16
prints 0 '1 of 1 outputs are correctly rounded' run fa2-4 --policy gpu-bf16 --check
prints 0 '^ dQ.0,0,0,0.  *6.1658627485550792193$' exact fa2-4 --do ones
prints 0 'dK: 1 of 4 correctly rounded' run fa2-4 --do ones --check
prints 0 '2 copies of dQ in fp32, 6.4e-05 MB' \
    run --generate gaussian --shape 1,2,1,2,8,2 --do random:1 --deterministic 4
prints 0 'up to 4 key tiles: 24 orders$' \
    run --generate gaussian --shape 1,1,1,1,8,2 --tile 1,2 --do random:1 --arrivals all
prints 0 ' 24.926527345857697674$' exact fa2-4
prints 0 '1 of 1 outputs are rational' exact m9
prints 0 '^ 0 01111101 0111100   0x3EBC   0.3671875 ' bits 0.36787944 --format bf16
prints 0 'lies +0.354 ulp above it' bits 0.36787944 --format bf16
prints 0 'rounds down: a tie, to the even fraction' bits 1.00390625 --format bf16
prints 0 '0.3671875' bits 0x3EBC --format bf16
prints 0 'overflows: e4m3 has no infinity; largest 448' bits 500 --format e4m3
prints 0 '^ fp64     0x407F400000000000  500  *exact$' bits 500
prints 0 '^faults tile-max zero-start no-tail-mask$' run fa2-printed
prints 2 'bits of which format? --format bf16 or fp16 is right' bits 0x3EBC
prints 2 'abc is no number' bits abc
prints 0 '^ fa2-4 ' list examples
prints 0 '"schema":' list formats --json
prints 0 '2 of 12 rows' exact cap.safetensors --heads 0 --rows 0,2 --digits 5
prints 0 '1 of 3 inputs were rounded to fp32 at INPUT' run --scores 0.1 --values 0.5
prints 0 '^ *9 ' trace fa2-4 --snapshots none
prints 0 '^ tile-max ' list faults -o faults.csv
same 'a table in a file' "$(head -1 faults.csv)" 'name,meaning,note'

# --- the ledger and the devices
prints 0 '^ A2   95 % matmul' claims
prints 0 '^ B3   As printed, in exact arithmetic: x = 0, v = 1, tile 2: 0.5 for 1$' claims
prints 0 '230 / 312 = 73.72 %' claims a11 --explain
prints 0 '"verdict":.*"exact only"' claims A16 --json
same 'every line of the ledger has at most 80 columns' \
    "$("$program" claims --explain | awk 'length > 80')" ''
same 'the ledger has 46 rows' "$("$program" claims --json | grep -c '"id":')" 46
"$program" claims -o claims.csv -o claims.md -o claims.json >/dev/null
same 'and in a table' "$(sed -n '1p;$=' claims.csv | tr '\n' ' ')" \
    'id,claim,published,computed,verdict 47 '
same 'and as a page' "$(sed -n 1p claims.md)" '# flashulp claims'
"$program" claims -o claims.html >/dev/null
for text in '<title>flashulp claims</title>' '>46 statements; every verdict is the recorded one<' \
    '<dt>command</dt><dd>flashulp claims -o claims.html</dd>' '<dt>version</dt><dd>flashulp ' \
    '<dt>input</dt><dd>none: the published figures are part of the program</dd>' \
    '<h2>Not established</h2>' '<li>A18, measured speed-ups: FA1, Triton, PyTorch; H100: no GPU ('; do
    same "the page has $text" "$(grep -cF -e "$text" claims.html)" 1
done
same 'every statement is a row of the page' \
    "$(grep -c '^<tr><td>[ABC][0-9]*b*</td><td>.*</td><td>.*</td><td>.*</td><td>.*</td></tr>$' claims.html)" 46
same 'the bars count them all' "$(sed -n 's,.*<text x="[^>]*">\([0-9]*\)</text>$,\1,p' claims.html |
    awk '{ n += $1 } END { print n }')" 46
same 'what is not established is in the JSON too' \
    "$("$program" claims --json | sed -n 's/.*"not_established":.*"\(A18, [^"]*\)".*/\1/p' | cut -c1-60)" \
    'A18, measured speed-ups: FA1, Triton, PyTorch; H100: no GPU '
prints 0 '^    not established: boost clock, boost clock of tensor work$' list devices
prints 0 '^ sm120 ' list architectures
same 'every line of the devices has at most 80 columns' \
    "$("$program" list devices | awk 'length > 80')" ''

# --- a capture gives the bits it was made of
digest() { sed -n 's/.*"digest":[^"]*"\([0-9a-f]*\)".*/\1/p'; }
made=$("$program" run --generate gaussian --shape 1,4,2,3,5,8 --json | digest)
read=$("$program" run cap.safetensors --json | digest)
same 'a capture, read again, gives the same digest' "$read" "$made"
"$program" run --generate gaussian --shape 1,2,1,3,5,8 --causal --scale 0.5 --window 2,0 --softcap 3 \
    -o masked.safetensors >/dev/null
made=$("$program" run --generate gaussian --shape 1,2,1,3,5,8 --causal --scale 0.5 --window 2,0 \
    --softcap 3 --json | digest)
read=$("$program" run masked.safetensors --json | digest)
same 'and so do its mask, scale and softcap' "$read" "$made"
prints 0 '^scale 0.5 taken from the file$' run masked.safetensors
other=$("$program" run masked.safetensors --scale 1 --json | digest)
same 'the command line wins over the file' "$([ "$other" != "$made" ] && echo differs)" differs
one=$("$program" run cap.safetensors --threads 1 --json | digest)
two=$("$program" run cap.safetensors --threads 2 --json | digest)
same 'threads do not change bits' "$one" "$two"
if [ -n "$source" ]; then
    for layer in 0 4; do
        named=$("$program" run minilm-$layer --json | digest)
        filed=$("$program" run "$source/minilm-layer$layer.safetensors" --json | digest)
        same "minilm-$layer is the capture of layer $layer" "${named:-none}" "$filed"
    done
    prints 0 '^minilm-4   q 1,12,172,32 ' run minilm-4
    prints 0 '^scale 0.1767766952966369 taken from the file$' run minilm-4
fi
prints 0 '^ minilm-0 ' list examples

# --- rows land where they belong, packed or not
prints 0 '^certified  96 of 96 outputs are correctly rounded' run cap.safetensors --policy exact --check
"$program" run cap.safetensors --heads 3 --rows 2 --dims 7 -o last.csv >/dev/null
last_word() { tail -c 4 "$1" | od -An -tx4 | tr -d ' ' | tr a-f A-F; }
same 'the last number of --out is O[0,3,2,7]' "0x$(last_word o.npy)" "$(tail -1 last.csv | cut -d, -f6)"
packed='--generate gaussian --shape 1,4,2,5,5,8 --cu-seqlens 0,2,5'
# shellcheck disable=SC2086
prints 0 '^certified  160 of 160 outputs are correctly rounded' run $packed --policy exact --check
# shellcheck disable=SC2086
"$program" run $packed --heads 3 --batch 1 --rows 2 --dims 7 -o packed.csv --out packed.npy >/dev/null
same 'packed, the last number of --out is O[0,3,4,7]' "0x$(last_word packed.npy)" \
    "$(tail -1 packed.csv | cut -d, -f6)"
same 'and its row is the fourth' "$(tail -1 packed.csv | cut -d, -f1-4)" '0,3,4,7'
"$program" run $packed --cu-seqlens-k 0,4,5 --causal -o packed.safetensors --out packed.npy --force >/dev/null
prints 0 '^cu_seqlens 0,2,5 taken from the file' run packed.safetensors --algorithm fa2 --out again.npy
same 'a capture of packed sequences is the same problem again' "$(cmp packed.npy again.npy 2>&1)" ''
"$program" run packed.safetensors --algorithm fa2 --cu-seqlens 0,5 --out other.npy --force >/dev/null
same 'but not under lengths of its own' "$(cmp -s packed.npy other.npy || echo other)" other
LC_ALL=C sed 's/0,4,5/0,4;5/g' packed.safetensors >wrong.safetensors
refused "run: wrong.safetensors: metadata cu_seqlens_k 0,4;5: whole numbers separated by commas are right" \
    run wrong.safetensors
LC_ALL=C sed 's/0,4,5/0,405/g' packed.safetensors >wrong.safetensors
refused "run: wrong.safetensors: metadata cu_seqlens has 3 numbers, wrong.safetensors: metadata cu_seqlens_k 2; as many are right" \
    run wrong.safetensors

# --- make demo
if [ -n "$source" ]; then
    build=${program%/*}
    same 'make demo shows at most 40 lines of at most 80 columns' "$(cd "$source/../.." &&
        sh tests/demo.sh "$build" | sed "s,$build,build," |
        awk 'length > 80 { print } END { print (NR > 0 && NR <= 40) }')" 1
fi

# --- make keeps its settings: without them the next make compiles everything again
same 'the settings of the build are kept' \
    "$(ls "${program%/*}/FLAGS.setting" 2>&1)" "${program%/*}/FLAGS.setting"

# --- nothing is left behind by a signal, or by the limit on a file's size
mkdir -p ended
"$program" run --generate gaussian --shape 1,1,1,20000,1,128 -o ended/o.csv >/dev/null 2>&1 &
child=$!
begun=no
for _ in $(seq 600); do
    ls ended | grep -q tmp && begun=yes && break
    sleep 0.05
done
kill -TERM $child
wait $child
status=$?
same 'a signal while a file is written leaves none of it' "$begun $status $(ls ended)" 'yes 143 '
rm -rf ended
mkdir -p ended
got=$( (ulimit -f 1 && exec "$program" list sites -o ended/o.csv -o ended/o.json) 2>&1 >/dev/null)
status=$?
same 'the limit on a file is a failed write' "$status $got $(ls ended | grep tmp)" \
    '2 flashulp list: ended/o.csv: cannot be written: File too large; nothing was kept '

# --- a mask leaves every algorithm in the table
prints 0 '^ fa2 .* yes ' run cap.safetensors --causal --algorithm all
prints 0 '^ unstable .* yes ' run cap.safetensors --window 1,0 --algorithm all
prints 0 '^ decode .* yes ' run cap.safetensors --algorithm all --tile 2,2
prints 0 '^ fa2-printed without fault no-tail-mask, which does not go with a mask.$' \
    run cap.safetensors --causal --algorithm all
prints 0 '"fault_left_out":.*"no-tail-mask"' run cap.safetensors --causal --algorithm all --json

# --- 80 columns
for words in 0x41C76987 0xFF7FFFFF '-1.23456789e-38 --format fp64' '-1.23456789e-38 --format tf32' \
    '0.1 --format bf16'; do
    # shellcheck disable=SC2086
    same "bits $words has no line of more than 80 columns" \
        "$("$program" bits $words | awk 'length > 80')" ''
done

for words in 'exact fa2-4 --digits 40' 'exact fa2-4 --digits 61' 'exact fa2-4 --digits 300' \
    $("$program" list | awk '{ print "list:" $1 }'); do
    # shellcheck disable=SC2086
    same "$words has no line of more than 80 columns" \
        "$("$program" $(echo "$words" | tr : ' ') | awk 'length > 80')" ''
done
same 'digits over several lines are the digits' \
    "$("$program" exact fa2-4 --digits 101 | sed -n '2,4p' | tr -d ' \n' | sed 's,^O\[[0-9,]*\],,')" \
    "$("$program" exact fa2-4 --digits 101 --json | sed -n 's/.*\[*"\(24\.[0-9]*\)".*/\1/p')"

# --- a trace, written and read
"$program" trace fa2-4 --snapshots all -o t.trace --perfetto t.json >/dev/null
same 'a trace read again prints the same' "$("$program" trace t.trace | sed 1d)" \
    "$("$program" trace fa2-4 --snapshots all | sed 1d)"
same 'a Perfetto file is written' "$(head -c 1 t.json)" '{'


# --- pictures: what is drawn, where
text=$("$program" bits 1.01171875 -o b.svg >/dev/null && cat b.svg)
same 'bits draws eight formats' "$(printf '%s\n' "$text" | grep -c '<title>the input, ')" 8
matches 'the tie lies between a number whose last bit is 1 and one whose last bit is 0' \
    '<title>the input, -0.500 ulp</title>' "$text"
same "of five numbers three end in 0, in each format; and the key's" \
    "$(printf '%s\n' "$text" | grep -c 'r="5" fill="#0072b2"')" 25
text=$("$program" exact --scores '1 2 3 0' --values '10 20 30 -5' --figure weights -o w.svg >/dev/null && cat w.svg)
matches 'exact draws what keys add' '<title>\+19.32</title><rect .*fill:#0072b2' "$text"
matches 'and what one takes away' '<title>-0.1603</title><rect .*fill:#e69f00' "$text"
matches 'to the certified output' '<title>24.766234</title><path' "$text"
same 'the figure that is named' "$(printf '%s\n' "$text" | grep -c exponentials)" 0
text=$("$program" exact --scores '100 101 0' --values '1 2 3' -o e.svg >/dev/null && cat e.svg)
matches 'exponentials beyond fp32' '<title>e\^s: 10\^43.43</title>' "$text"
matches 'and in reach' '<title>e\^\(s - m\): 10\^-0.4343</title>' "$text"
text=$("$program" run fa2-printed --algorithm all -o a.svg >/dev/null && cat a.svg)
matches 'listings that are no attention are crosses' 'roundoffs</title><path [^>]*#d55e00' "$text"
same 'as many as the table says' "$(printf '%s\n' "$text" | grep -c 'roundoffs</title><path')" \
    "$("$program" run fa2-printed --algorithm all | grep -c ' NO ')"
if command -v python3 >/dev/null 2>&1; then
    for file in b.svg w.svg e.svg a.svg; do
        same "$file is well formed" "$(python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $file 2>&1)" ''
    done
else
    skipped 'well-formed pictures' 'no python3'
fi
plan_end
