#!/bin/sh
# A CUDA kernel's labels name the steps of its pair, in the order of the pair's listing: what one reads
# in the listing one finds in the kernel.  TAP.  usage: tests/check_pairs.sh
. "$(dirname "$0")/tap.sh"
listings=simulator/algorithms
shared="$listings/state.c $listings/warps.c $listings/records.c $listings/dq.c simulator/gradient.c"
all=$(sed -n 's/^STEP(\([A-Z_]*\),.*/\1/p' simulator/steps.def)
# No kernel has a softcap or keeps sum dS; the kernels' decode knows a running maximum only, and all
# its merges but this one are in add_groups.
steps=$(echo "$all" | grep -vE '^(SOFTCAP|SCORE_STORE|DS_SUM|WEIGHT|LOAD)$')
hidden='known_maximum merge_lse'

# The functions of a pair's listing.
entries() {
    case $2 in
    *BACKWARD*) echo backward sum_group ;;
    *) sed -n "s/^ALGORITHM([A-Z_0-9]*, \"$1\", \"[^\"]*\", \([a-z_0-9]*\),.*/\1/p" simulator/algorithms.def ;;
    esac
}
# ID, name, functions, files, algorithm, flags
sed -n 's/^GPU_KERNEL([A-Z_0-9]*, "\([^"]*\)", [A-Z_0-9]*, "\([^"]*\)", "--algorithm \([a-z0-9-]*\) [^"]*", \([A-Z_ |0-9]*\),.*/\1;\2;\3;\4/p' gpu/kernels.def >"${TMPDIR:-/tmp}/pairs.$$"
trap 'rm -f "${TMPDIR:-/tmp}/pairs.$$"' EXIT INT TERM
while IFS=';' read -r name files algorithm flags; do
    entry=$(entries "$algorithm" "$flags")
    own=$(grep -lE "^void ${entry%% *}\(" $listings/*.c)
    want=$(awk -v entries="$entry" -v steps="$(echo $steps)" -v leave_out="$hidden" \
        -v callback=fold_pair -v called=fold_query_tile -f tests/pairs.awk $own $shared)
    got=$(cd gpu/kernels && awk -v labels=1 -v steps="$(echo $steps)" -f ../../tests/pairs.awk $files)
    same "$name labels the steps of $(echo $entry)" "$(echo $got)" "$(echo $want)"
done <"${TMPDIR:-/tmp}/pairs.$$"
same 'every kernel was looked at' "$(wc -l <"${TMPDIR:-/tmp}/pairs.$$" | tr -d ' ')" "$(grep -c '^GPU_KERNEL(' gpu/kernels.def)"
plan_end
