#!/bin/sh
# make demo: what this is about, in at most 40 lines.    usage: tests/demo.sh BUILD
flashulp="$1/flashulp"
data=tests/data/minilm-layer4.safetensors
echo "Four scores in two tiles, FlashAttention-2, step by step (walk fa2-4):"
"$flashulp" walk fa2-4 | sed -n '/ # /,/ LSE /p'
echo "The same mathematics on real Q, K, V (MiniLM reading Alice in Wonderland):"
"$flashulp" run $data --algorithm all --sample 256 | sed -n '/^policy/,$p' | sed '/^$/d'
echo "Next   $flashulp walk fa2-4 --policy gpu-bf16    where bf16 rounds"
echo "       $flashulp exact fa2-4 --digits 50         the true result, certified"
echo "       $flashulp --help                          everything else"
