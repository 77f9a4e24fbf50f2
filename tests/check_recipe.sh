#!/bin/sh
# recipe from outside: its texts; then, as far as this machine has python3, numpy, torch, safetensors
# and transformers, the scripts themselves: their proof, and capture and replay against stand-ins of
# the engines (tests/stand_ins), with a planted bug that they must refuse.  TAP on the output.
# usage: tests/check_recipe.sh   (FLASHULP_BUILD: build, FLASHULP_PYTHON: python3)
. "$(dirname "$0")/tap.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
stand_ins=$(cd "$(dirname "$0")/stand_ins" && pwd)
python=${FLASHULP_PYTHON:-python3}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
engines='vllm sglang transformers flashinfer flash-attn'
has() { "$python" -c "import $1" >/dev/null 2>&1; }

# --- texts
text=$("$program" recipe)
for engine in $engines; do
    matches "$engine is listed" "^ $engine  *[a-zA-Z]" "$text"
    "$program" recipe $engine >"capture-$engine.py"
    same "$engine: 100 columns" "$(LC_ALL=C grep -nE '^.{101}|[^ -~]' "capture-$engine.py")" ''
    matches "$engine: what ran" '^# Ran: ' "$(cat "capture-$engine.py")"
    matches "$engine: no GPU" 'None of the scripts was ever run on a GPU|ever run on a$|^# GPU\.$' \
        "$(tr '\n' ' ' <"capture-$engine.py" | sed 's/ # / /g')"
    matches "$engine: the trap of traps" '^# - replay the identical Q, K, V' "$(cat "capture-$engine.py")"
done
said=$("$program" recipe flash-attn -o capture.py)
matches '-o says how to run it' '^ second  the same, with  b200 --replay' "$said"
same '-o writes the script' "$(cmp capture.py capture-flash-attn.py 2>&1)" ''
same 'summary: 80 columns, ASCII' "$(printf '%s\n' "$said" | LC_ALL=C grep -nE '^.{81}|[^ -~]')" ''
said=$("$program" recipe vllm --json)
for key in '"schema":	1' '"first_gpu":	"python3 ' '"beware":' '"script":	"#' '"ran_on_a_gpu":	false'; do
    matches "JSON $key" "$key" "$said"
done
said=$("$program" recipe vlm 2>&1)
same 'an unknown engine' "$said" 'flashulp recipe: no recipe is named vlm; did you mean vllm?'
said=$("$program" recipe -o x.py 2>&1)
same 'no engine, no script' "$said" 'flashulp recipe: -o .py: which recipe? flashulp recipe names them'
said=$("$program" recipe vllm -o ./vllm.py 2>&1)
same 'a name that would hide the package' "$said" \
    'flashulp recipe: -o ./vllm.py: a script of that name hides the package vllm; capture.py is right'
said=$("$program" recipe vllm -o capture.py 2>&1)
same 'an existing file' "$said" \
    'flashulp recipe: -o capture.py exists; give --force to replace it'

if ! has sys; then
    skipped 'the scripts compile' "no $python"
    plan_end
    exit
fi
for engine in $engines; do
    said=$("$python" -m py_compile "capture-$engine.py" 2>&1)
    same "$engine compiles" "$said" ''
done

# --- the proof, on numbers of its own: it must accept attention and refuse what is not
if has numpy; then
    sed -n '/^import numpy/,/^import argparse/p' capture-flash-attn.py | sed '$d' >proof.py
    cat >proves.py <<'END'
import numpy as np
from proof import attention, prove

rng = np.random.default_rng(1)
about = {"scale": 0.25, "causal": True, "window": (-1, -1), "softcap": 0.0}
q, k, v = rng.normal(size=(2, 4, 9, 16)), rng.normal(size=(2, 2, 30, 16)), rng.normal(size=(2, 2, 30, 16))


def made(about, drop=0):
    o, lse = np.zeros(q.shape), np.zeros(q.shape[:3])
    for b in range(2):
        for h in range(4):
            n = 30 - drop
            o[b, h], lse[b, h], _ = attention(q[b, h], k[b, h // 2, :n], v[b, h // 2, :n],
                                              np.arange(9), about)
    return o, lse


o, lse = made(about)
for row, key in ((0, 21), (8, 29)):  # causal, bottom right: softmax by hand
    p = np.exp(q[0, 0, row] @ k[0, 0, : key + 1].T * 0.25)
    assert np.allclose(o[0, 0, row], p @ v[0, 0, : key + 1] / p.sum(), atol=1e-12), "by hand"
holes = o.copy()
holes[1, 3, 8, 5] = np.nan
for what, got, of, rule, fine in (
    ("attention", o, lse, about, True), ("base 2", o, lse / np.log(2), about, True),
    ("rounded", (o * 512).round() / 512, None, about, True),
    ("another scale", made({**about, "scale": 1.0})[0], None, about, False),
    ("not causal", made({**about, "causal": False})[0], None, about, False),
    ("a window", o, None, {**about, "window": (3, -1)}, False),
    ("a softcap", o, None, {**about, "softcap": 1.0}, False),
    ("a key less", made(about, 1)[0], None, about, False), ("NaN", holes, None, about, False),
    ("heads swapped", o[:, ::-1], None, about, False), ("another LSE", o, lse + 0.1, about, False),
    ("another shape", o[:, :, :8], None, about, False), ("zeros", o * 0, None, about, False),
):
    why, found = prove(q, k, v, got, of, rule, 2**-8)
    assert (why is None) == fine, f"{what}: {why}"
    assert not fine or of is None or found["lse_base"] == ("2" if what == "base 2" else "e"), what
flat, noise = np.where(np.arange(30)[:, None] % 2, 1.0, -1.0) + v * 0, rng.normal(size=q.shape)
why, _ = prove(q, k, flat, noise * 1e-3, None, {**about, "scale": 0.0, "causal": False}, 2**-8)
assert why and "so small" in why, f"noise where values cancel: {why}"
END
    said=$("$python" proves.py 2>&1)
    same 'the proof accepts attention and refuses what is not' "$said" ''
else
    skipped 'the proof' "$python has no numpy"
fi
if ! has torch || ! has safetensors; then
    skipped 'capture and replay, every script against a stand-in of its engine' \
        "$python has no torch and safetensors"
    plan_end
    exit
fi

# --- capture, replay on "another GPU" that starts from other numbers, and a planted bug
export PYTHONPATH="$stand_ins"
shows() { # NAME SCRIPT ARGUMENTS...: o.first, o.second by replay; the audit takes it; the bug is refused
    name=$1 script=$2 one=$3 other=$4
    shift 4
    said=$("$python" "$script" "$name.safetensors" first "$@" $one 2>&1 &&
        STAND_IN=round-down "$python" "$script" "$name.safetensors" second --replay "$@" $other 2>&1)
    matches "$name: captured" 'o\.first saved; fp64 attention' "$said"
    matches "$name: replayed" 'o\.second saved; fp64 attention' "$said"
    said=$("$program" audit "$name.safetensors" 2>&1)
    same "$name: audit" $? 0
    matches "$name: both are measured" '^ o\.second  *measured' "$said"
    matches "$name: and differ" '^ pair: [0-9,]* differ \([1-9]' "$said"
    said=$(STAND_IN=drop-key "$python" "$script" "$name-bug.safetensors" first "$@" $one 2>&1)
    matches "$name: a dropped key is refused" '^refused, nothing saved: O\[' "$said"
    same "$name: and nothing saved" "$(ls "$name-bug.safetensors" 2>/dev/null)" ''
}
shows vllm capture-vllm.py 3 8 --layer 1 --length 90
shows sglang capture-sglang.py 3 8 --layer 1 --length 80
for call in 0 1; do
    shows flash-attn-$call capture-flash-attn.py "$stand_ins/flash_attn_program.py 5" \
        "$stand_ins/flash_attn_program.py 6" --call $call --program
done
for call in 0 1 2 3; do
    shows flashinfer-$call capture-flashinfer.py "$stand_ins/flashinfer_program.py 5" \
        "$stand_ins/flashinfer_program.py 6" --call $call --program
done
matches 'the capacity of the cache is passed on' "^a cache of 96 tokens, the file says: --capacity" \
    "$("$program" audit vllm.safetensors)"
said=$("$python" capture-vllm.py vllm.safetensors third --replay 3 --layer 1 --length 70 2>&1)
matches 'a replay of another length is refused' '^refused, nothing saved: k is \(1, 2, 70, 64\)' "$said"
said=$("$python" capture-vllm.py other.safetensors first 3 --layer 5 --length 70 2>&1)
matches 'a layer that is not there' '^refused, nothing saved: layer 5 of 2 ' "$said"

if has transformers; then
    "$python" "$stand_ins/small_model.py" model >/dev/null 2>&1
    prompt=ids:5,9,17,99,3,55,23,8,41,100,2,77
    for step in 0 3; do
        said=$("$python" capture-transformers.py model$step.safetensors cpu model --step $step --prompt $prompt 2>&1 &&
            "$python" capture-transformers.py model$step.safetensors again --replay model --step $step \
                --prompt ids:6,5,4,3,2,1,7,8,9,10,11,12 2>&1)
        matches "transformers, step $step: captured and replayed" 'o\.again saved' "$said"
        said=$("$program" audit model$step.safetensors 2>&1)
        same "transformers, step $step: audit" $? 0
        matches "transformers, step $step: the same bits" '^ pair: 0 differ' "$said"
    done
else
    skipped 'transformers' "$python has no transformers"
fi
plan_end
