#!/bin/sh
# compare from outside: harness bugs as four-element files, every refusal whole, what is printed.
# TAP on the output.  usage: tests/check_compare.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/npy.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
mkdir files && cd files || exit 1

refused() { # SENTENCE WORDS...: exit 2, that one line, no output
    want="flashulp compare: $1"
    shift
    "$program" compare "$@" >../out 2>../err
    status=$?
    got=$(cat ../err) ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s ../out ] && ok=yes
    verdict "refused: $*" $ok "exit $status: $got
want: $want"
}

prints() { # STATUS PATTERN WORDS...: that exit status, also said, and a line matching the pattern
    want=$1 pattern=$2 ok=no
    shift 2
    got=$("$program" compare "$@" 2>&1)
    status=$?
    [ $status -eq "$want" ] && printf '%s\n' "$got" | grep -q -e "$pattern" &&
        [ "$(printf '%s\n' "$got" | tail -1)" = "exit $want" ] && ok=yes
    verdict "compare $* prints $pattern" $ok "exit $status
$got"
}

# st FILE NAME DTYPE BYTES SHAPE CODES... -- NAME ...: a .safetensors of small tensors
st() {
    file=$1 json='' at=0
    shift
    : >../data
    while [ $# -gt 0 ]; do
        name=$1 dtype=$2 shape=$3 begin=$at
        shift 3
        while [ $# -gt 0 ] && [ "$1" != -- ]; do
            word "$1" >>../data
            at=$((at + ${#1} / 2))
            shift
        done
        [ $# -gt 0 ] && shift
        json="$json${json:+,}\"$name\":{\"dtype\":\"$dtype\",\"shape\":$shape,\"data_offsets\":[$begin,$at]}"
    done
    {
        word "$(printf '%016x' $((${#json} + 2)))"
        printf '{%s}' "$json"
        cat ../data
    } >"$file"
}

# fp32: 1 2 3 4, and what may take the place of 3
for row in one:40400000 nan:7fc00000 nan2:ffc00001 inf:7f800000 ninf:ff800000 zero:00000000 nzero:80000000 \
    near:40400001 tiny:00000001; do
    npy "${row%:*}.npy" '<f4' '(4,)' 3f800000 40000000 "${row#*:}" 40800000
done

# --- H1, H2: NaN is never within a tolerance, nor the largest difference of 0
prints 1 'DIFFER in kind: NaN or infinity against something else at 1 of 4' nan.npy one.npy --atol 1e30
prints 1 'passes with  *nothing: no tolerance covers a different kind' nan.npy one.npy
prints 1 'DIFFER in kind' one.npy nan.npy --rtol 1e30
prints 1 'DIFFER in kind' one.npy nan.npy --ulp 9223372036854775807
prints 0 'NaN 1 and 1' nan.npy nan2.npy
cp nan.npy nan3.npy
prints 0 'NaN 1 and 1' nan.npy nan3.npy
prints 1 'DIFFER in kind' inf.npy ninf.npy --atol 1e38
prints 1 'DIFFER in kind' one.npy inf.npy --rtol 1
prints 1 'DIFFER in kind' nan.npy inf.npy
npy infs.npy '<f4' '(4,)' 3f800000 40000000 7f800000 40800000
prints 0 'EQUAL, bit for bit' inf.npy infs.npy

# --- H9: zeros of the reference
npy zero2.npy '<f4' '(4,)' 3f800000 40000000 00000000 40800000
prints 0 'EQUAL, bit for bit' zero.npy zero2.npy --rtol 0
prints 1 'OUTSIDE --rtol 1 at 1 of 4' one.npy zero.npy --rtol 1
prints 1 'no --rtol does: want is 0 where got is not' tiny.npy zero.npy
prints 1 'in the signs of 1 zeros only' zero.npy nzero.npy
prints 0 'WITHIN --ulp 0' zero.npy nzero.npy --ulp 0

# --- H4: both made with the same mistake; H8: nothing was tested, which must not be green
npy mask.npy '<f4' '(4,)' 3f800000 40000000 00000000 40800000
npy true.npy '<f8' '(4,)' 3ff0000000000000 4000000000000000 4008000000000000 4010000000000000
prints 0 'not tested  whether WANT is right: both may share a mistake' zero.npy mask.npy
prints 0 'EQUAL, bit for bit; but 1 of 4 elements are not the exact values rounded\.' \
    zero.npy mask.npy --exact true.npy
prints 0 'not tested  anything: GOT and WANT are one and the same file' one.npy one.npy
npy empty.npy '<f4' '(0,)'
npy empty2.npy '<f4' '(0,)'
refused 'empty.npy and empty2.npy: tensors without elements; nothing was compared' empty.npy empty2.npy
st q.safetensors q F32 '[1]' 3f800000
st k.safetensors k F32 '[1]' 3f800000
refused 'q.safetensors and k.safetensors have no tensor in common; nothing was compared' \
    q.safetensors k.safetensors
mkdir none none2
refused 'none and none2 have no tensor in common; nothing was compared' none none2

# --- H6: equal at first, drifting later: every file of a folder is looked at, and none may lack
mkdir a b
cp one.npy a/run1.npy && cp one.npy a/run2.npy && cp one.npy b/run1.npy && cp near.npy b/run2.npy
prints 1 'DIFFER, by one ulp at most' a b
prints 1 '^got   a/run2.npy   4 fp32$' a b
prints 0 'WITHIN --ulp 1' a b --ulp 1
cp one.npy a/run0.npy
prints 1 '^run0.npy   is only in GOT$' a b --ulp 1
prints 1 'Only in one of the two: 1\.' a b --ulp 1

# --- folders below folders, what one lacks, what is no tensor, links that lead back up
mkdir -p deep/a/x/y deep/b/x/y deep/a/only deep/b/x/z
for at in run.npy x/run.npy x/y/run.npy; do cp one.npy deep/a/$at && cp one.npy deep/b/$at; done
cp near.npy deep/b/x/y/run.npy
prints 1 '^ tensors compared    3, 1 of them different' deep/a deep/b
prints 1 '^got   deep/a/x/y/run.npy   4 fp32$' deep/a deep/b
prints 0 'WITHIN --ulp 1' deep/a/ deep/b/ --ulp 1
prints 1 '^got   deep/a/x/y/run.npy   4 fp32$' deep/a/ deep/b/
cp one.npy deep/a/only/run.npy && cp one.npy deep/b/x/z/last.npy
prints 1 '^only/run.npy   is only in GOT$' deep/a deep/b --ulp 1
prints 1 '^x/z/last.npy   is only in WANT$' deep/a deep/b --ulp 1
prints 1 'Only in one of the two: 2\.' deep/a deep/b --ulp 1
echo words >deep/a/notes.txt && ln -s .. deep/a/x/up && ln -s ../run.npy deep/a/x/same.npy
prints 1 '^ not compared        deep/a: files of other kinds, 1$' deep/a deep/b --ulp 1
prints 1 '^ not entered         deep/a: links to folders, 1$' deep/a deep/b --ulp 1
prints 1 '^x/same.npy   is only in GOT$' deep/a deep/b --ulp 1
same 'the table names the file' "$("$program" compare deep/a deep/b -o deep.csv >/dev/null
    cut -d, -f1 deep.csv | tr '\n' ' ')" 'tensor x/y/run.npy '
mkdir -p "$(yes d | head -n 66 | tr '\n' / | sed 's,^,deep/c/,')"
refused 'deep/c: more than 64 folders inside one another' deep/a deep/c

# --- several tensors: the first that differs, or all
st x.safetensors q F32 '[2]' 3f800000 40000000 -- k F32 '[2]' 3f800000 40000000 -- v BF16 '[1]' 3f80
st y.safetensors q F32 '[2]' 3f800000 40000000 -- k F32 '[2]' 3f800001 40000001 -- v BF16 '[1]' 3f81
st z.safetensors q F32 '[2]' 3f800000 40000000 -- w F32 '[1]' 3f800000
prints 1 '^ tensors compared    2, 1 of them different; stopped there (--all goes on)$' \
    x.safetensors y.safetensors
prints 1 '^ tensors compared    3, 2 of them different$' x.safetensors y.safetensors --all
prints 1 '^q   2 fp32   equal$' x.safetensors y.safetensors --all
prints 1 '^k   is only in GOT$' x.safetensors z.safetensors
prints 1 '^w   is only in WANT$' x.safetensors z.safetensors
prints 1 'DIFFER: what both have is equal\. Only in one of the two: 3\.$' x.safetensors z.safetensors
prints 0 'EQUAL' q.safetensors q.safetensors

# --- what is printed, whole
npy o_h200.npy '<u2' '(1,2,1,2)' 3f80 3fa9 4000 4040
npy o_b200.npy '<u2' '(1,2,1,2)' 3f80 3faa 4000 4040
npy e.npy '<f8' '(1,2,1,2)' 3ff0000000000000 3ff5338f6e3cf1b3 4000000000000000 4008000000000000
same 'the report' "$("$program" compare o_h200.npy o_b200.npy --exact e.npy | grep -v sha256)" \
    'got   o_h200.npy   1,2,1,2 bf16 (uint16 taken as bf16 bits)
want  o_b200.npy   1,2,1,2 bf16 (uint16 taken as bf16 bits)
exact e.npy   1,2,1,2 fp64

 1 of 4 elements differ (25 %)               NaN 0 and 0, Inf 0 and 0
 distance in ulps    0: 3    1: 1    2 or more: 0
 signed mean         -0.25 ulp  (too few rows for a z: 2, 20 are right)
 by head             0 .. 1 per head, all alike (a layout bug would not be)
 passes with         --atol 0.0078125   or   --rtol 0.005883   or   --ulp 1
 nearer to exact     got at 0, want at 1, equally far at 0
 got  from exact     0.611 ulp at most, at [0,0,0,1]; mean -0.153; correctly rounded: 3
 want from exact     0.389 ulp at most, at [0,0,0,1]; mean +0.0972; correctly rounded: 4

 differences, in C order; value, hex, bits (sign exponent fraction)
 [0,0,0,1]    got   1.3203125      3FA9   0 01111111 0101001
              want  1.328125       3FAA   0 01111111 0101010
                                                          ^^
              exact 1.32508795797     got -0.61 ulp   want +0.39 ulp

 verdict  DIFFER, by one ulp at most.
exit 1'
if command -v sha256sum >/dev/null; then
    prints 1 "sha256 $(sha256sum o_h200.npy | cut -c1-64)" o_h200.npy o_b200.npy
fi
prints 0 'WITHIN --rtol 0.005883\.' o_h200.npy o_b200.npy --rtol 0.005883
prints 0 'WITHIN --atol 0.0078125\.' o_h200.npy o_b200.npy --atol 0.0078125
prints 1 'OUTSIDE --atol 0.0078124 at 1 of 4' o_h200.npy o_b200.npy --atol 0.0078124
same 'carets of a wide format' "$("$program" compare one.npy near.npy | grep -A5 '^ \[2\]')" \
    ' [2]          got   3                         40400000
              want  3.0000002                 40400001
            0 10000000 10000000000000000000000
            0 10000000 10000000000000000000001
                                             ^'
npy base2.npy '<f4' '(2,)' 4121de5a 40549a78
npy basee.npy '<f4' '(2,)' 40e065c1 40135d8d
prints 1 'got = 1.442695 want throughout: got is base 2, want base e$' base2.npy basee.npy
prints 1 'want = 1.442695 got throughout: got is base e, want base 2$' basee.npy base2.npy
npy logits_a.npy '<f4' '(1,2)' 3f800000 3f800001
npy logits_b.npy '<f4' '(1,2)' 3f800001 3f800000
prints 1 '^ next token          1 of 1 rows choose another (0 where one side ties)$' \
    logits_a.npy logits_b.npy
prints 1 '^  row 0 *got 1 by 1 ulp, want 0 by 1 ulp$' logits_a.npy logits_b.npy
prints 1 '^ KL(want || got)     mean 7.11e-15 nat, largest 7.11e-15 nat in row 0$' \
    logits_a.npy logits_b.npy
npy half.npy '<u2' '(1,)' 3c00
npy one1.npy '<f4' '(1,)' 3f800000
prints 0 'uint16 taken as fp16 bits' half.npy one1.npy --dtype fp16
prints 0 '^ compared in fp16    want, fp32, was rounded: 0 of 1 values changed$' half.npy one1.npy \
    --dtype fp16
npy t.npy '<u2' '(1,1,2,2)' 3f80 3fa9 4000 4040
prints 0 'EQUAL, bit for bit' o_h200.npy t.npy --transpose

# --- files
"$program" compare o_h200.npy o_b200.npy -o r.json -o r.csv -o r.md >/dev/null
for key in '"schema":	1' '"elements":	4' '"differ":	1' '"max_ulp":	1' '"mean_signed_ulp":	-0.25' \
    '"min_abs_tolerance":	0.0078125'; do
    same "JSON has $key" "$(grep -c "^	$key" r.json)" 1
done
"$program" compare nan.npy one.npy -o n.json >/dev/null
same 'JSON: no tolerance covers a NaN' "$(grep -c '^	"\(max_ulp\|min_abs_tolerance\)":	"inf"' n.json)" 2
same 'the table' "$(cat r.csv)" 'tensor,index,got,want,got_bits,want_bits,ulps,exact
,"[0,0,0,1]",1.3203125,1.328125,3FA9,3FAA,-1,'
same 'markdown' "$(head -1 r.md)" '# flashulp compare'

# --- a page: well formed, alone, with its inputs, and whatever a file may be called
odd="<script>alert(1)<script>&\"'.npy"
well_formed() { # FILE
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" 2>&1
    else
        python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$1" 2>&1
    fi
}
cp one.npy "$odd" && cp near.npy b.npy
"$program" compare "$odd" b.npy -o odd.html -o odd.md -o odd.json -o odd.csv >/dev/null
if command -v xmllint >/dev/null || command -v python3 >/dev/null; then
    same 'the page is well-formed' "$(well_formed odd.html)" ''
else
    skipped 'the page is well-formed' 'neither xmllint nor python3 is here'
fi
same 'no name of a file becomes markup' "$(grep -ci '<script\|<img\|href=\|src=\|http:' odd.html)" \
    "$(grep -c 'www.w3.org' odd.html)"
same 'in Markdown neither' "$(grep -c '[^\\]<script' odd.md)" 0
holds() { # NAME FILE TEXT: the file has a line with the text
    ok=no
    grep -qF -e "$3" "$2" && ok=yes
    verdict "$1" $ok "$(head -c 3000 "$2")"
}
sum=$(sha256sum b.npy 2>/dev/null | cut -c1-64)
command=$("$program" compare "$odd" b.npy --json | sed -n 's/^	"command":	"\(.*\) --json",$/\1/p')
for form in html md json; do
    holds "odd.$form has the SHA-256 of an input" odd.$form "$sum"
    holds "odd.$form has the version" odd.$form "$("$program" --version | cut -d' ' -f2)"
    holds "odd.$form says what is not established" odd.$form 'whether WANT is right: both may share a mistake'
    holds "odd.$form says that too" odd.$form 'whether the mean is biased; 4 rows are too few'
done
bytes=$(printf 'no\377text.npy') # no UTF-8
cp one.npy "$bytes"
"$program" compare "$bytes" b.npy -o bytes.json -o bytes.html -o bytes.md >/dev/null
for form in json html md; do
    holds "bytes that are no text, in .$form" bytes.$form 'no?text.npy'
done
holds 'the page has the command' odd.html \
    'flashulp compare &#39;&lt;script&gt;alert(1)&lt;script&gt;&amp;&quot;&#39;\&#39;&#39;.npy&#39; b.npy'
holds 'and a figure' odd.html '>elements by got - want, in ulps of fp32; 3 are equal<'
holds 'of one bar' odd.html \
    '-1</text><rect x="200" y="3" width="340.0" height="15"/><text x="546.0" y="15">1</text>'
"$program" compare o_h200.npy o_b200.npy -o heads.html >/dev/null
holds 'heads have bars too' heads.html \
    'head 0</text><rect x="200" y="3" width="340.0" height="15"/><text x="546.0" y="15">1</text>'
npy wide.npy '<f4' '(6,)' 3f800001 3f7ffffb bf800009 40800000 7fc00000 3f800000
npy wide2.npy '<f4' '(6,)' 3f800000 3f800000 bf800000 bf800000 3f800000 3f800000
"$program" compare wide.npy wide2.npy -o wide.md >/dev/null
same 'classes of distances, both signs' "$(sed -n '/^-15/,/^```/p' wide.md)" \
    '-15 to -8       ######################################## 1
-7 to -4        ######################################## 1
...             0
+1              ######################################## 1
...             0
+2^31 to +2^32  ######################################## 1
another kind    ######################################## 1
```'
echo kept >kept.html
refused '-o kept.html exists; give --force to replace it' one.npy zero.npy -o kept.html
same 'and is left alone' "$(cat kept.html)" kept
"$program" compare one.npy zero.npy -o kept.html --force >/dev/null
same 'unless --force is given' "$(head -1 kept.html)" '<!DOCTYPE html>'

# --- bad input
printf 'not a tensor at all' >junk.npy
: >nothing.npy
mkfifo pipe.npy
refused 'no files are named; flashulp compare GOT WANT is right'
refused 'one file is named; flashulp compare GOT WANT is right' one.npy
refused 'one.npy, zero.npy and nan.npy: two are right' one.npy zero.npy nan.npy
refused 'gone.npy: no such file' gone.npy one.npy
refused 'gone.npy: no such file' one.npy gone.npy
refused 'junk.npy: neither .npy, .npz nor .safetensors, by its first bytes' junk.npy one.npy
refused 'nothing.npy: the file is empty' one.npy nothing.npy
refused 'pipe.npy: a pipe, not a regular file' one.npy pipe.npy
refused 'a is a folder, one.npy is not; two files or two folders are right' a one.npy
refused 'one.npy: shape (4,) against (2,): the same is right' one.npy base2.npy
refused 'o_h200.npy: shape (1, 2, 1, 2) against (4,): the same is right, and both have as many elements: reshape one' \
    o_h200.npy one.npy
refused 'o_h200.npy: shape (1, 2, 1, 2) against (1, 1, 2, 2): the same is right; with dimensions 1 and 2 of WANT exchanged (bnhd for bhnd) they agree: --transpose' \
    o_h200.npy t.npy
refused 'o_h200.npy: shape (1, 2, 1, 2) against (1, 1, 2, 2): the same is right; with dimensions 1 and 2 of WANT exchanged (bnhd for bhnd) they agree: --transpose is one too many' \
    o_h200.npy o_b200.npy --transpose
refused '--transpose: zero.npy has rank 1; 3 or 4 is right' one.npy zero.npy --transpose
refused 'one.npy holds one tensor without a name, x.safetensors 3 with names; two files of a kind are right' \
    one.npy x.safetensors
refused '--exact near.npy: fp32 is no truer than the fp32 it shall judge; a wider format is right' \
    one.npy zero.npy --exact near.npy
refused '--exact e.npy: shape (1, 2, 1, 2); (4,) is right' one.npy zero.npy --exact e.npy
st qe.safetensors q F64 '[2]' 3ff0000000000000 4000000000000000
refused '--exact qe.safetensors: no tensor w' z.safetensors z.safetensors --exact qe.safetensors
refused '--atol -1: 0 or a positive number is right' one.npy zero.npy --atol -1
refused '--rtol inf: 0 or a positive number is right' one.npy zero.npy --rtol inf
refused '--atol nan: 0 or a positive number is right' one.npy zero.npy --atol nan
refused '--atol x: a number is right' one.npy zero.npy --atol x
refused '--ulp 0.5: a whole number from 0 to 9223372036854775807 is right' one.npy zero.npy --ulp 0.5
refused '--dtype fp32: bf16 or fp16, what 16-bit words hold, is right' one.npy zero.npy --dtype fp32
refused '--layout hbnd: bhnd or bnhd is right' one.npy zero.npy --layout hbnd
refused '--policy is an option of walk, run, audit, view and trace, not of compare' one.npy zero.npy --policy fp32
refused '-o r.txt: the ending says what is written; one of .html, .md, .json, .csv is right' \
    one.npy zero.npy -o r.txt
refused '-o r.json exists; give --force to replace it' one.npy zero.npy -o r.json

plan_end
