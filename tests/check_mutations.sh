#!/bin/sh
# A test must be able to fail: slips of the kind one makes, planted one at a time in a private copy
# of a source, must each be caught by the named test.  Only the changed objects and the test are
# compiled and linked, at processor level base.  Full only.  TAP on the output.
# usage: FLASHULP_TESTS=full tests/check_mutations.sh   (FLASHULP_BUILD: build; MUTATIONS_ONLY=pattern
# plants those whose name or test matches)
. "$(dirname "$0")/tap.sh"
if [ "${FLASHULP_TESTS:-quick}" != full ]; then
    skipped mutations 'make test-full'
    exit 0
fi
build=${FLASHULP_BUILD:-build}
cc=${CC:-cc}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
setting() { make -pnq B="$build" 2>/dev/null | sed -n "s/^$1 [:?]*= //p" | head -n 1; }
flags="-O1 $(setting FIXED | sed 's/-MMD//;s/-MP//') $(setting CFLAGS)"
libraries="-lcmocka $(setting LDLIBS)"
export FLASHULP_CPU=base FLASHULP_TESTS=quick
TAP_LINES=8

# linked OUT TEST OBJECTS...: the test with these objects before the library's.  Its own objects are
# compiled once; with a changed header (in $folder/changed) the test sees it too.
linked() {
    out=$1 test=$2 kernels=
    shift 2
    case $test in
    test_emulator*_checked) kernels="$(echo "$build"/tests/emulated/*.checked.o) $build/libemulator.a" ;;
    test_emulator*) kernels="$(echo "$build"/tests/emulated/*.emulated.o) $build/libemulator.a" ;;
    esac
    # shellcheck disable=SC2086
    $cc -I"$folder/changed" $flags -o "$out" "tests/$test.c" "$@" $kernels \
        "$build/tests/libjudges.a" "$build/libflashulp.a" $libraries
}

# Without a change the test passes: asked once per test.
baseline() {
    [ -f "$folder/$1.baseline" ] && return
    : >"$folder/$1.baseline"
    rm -rf "$folder/changed"
    if ! linked "$folder/$1" "$1" >"$folder/said" 2>&1 || ! "$folder/$1" >"$folder/said" 2>&1; then
        wrong "$1 passes unchanged" "$(tail -n 8 "$folder/said")"
    fi
}

# mutant NAME TEST FILE SED [SOURCES that include FILE]
mutant() {
    name=$1 test=$2 file=$3 edit=$4
    shift 4
    case "$name $test" in *"${MUTATIONS_ONLY:-}"*) ;; *) return ;; esac
    baseline "$test"
    rm -rf "$folder/changed" "$folder"/*.o
    mkdir -p "$folder/changed/$(dirname "$file")"
    sed "$edit" "$file" >"$folder/changed/$file"
    if cmp -s "$file" "$folder/changed/$file"; then
        wrong "mutation $name no longer applies" "$file has nothing that matches: $edit"
        return
    fi
    case $file in
    *.h | *.def) ;;
    *) set -- "$folder/changed/$file" ;;
    esac
    objects=
    for source in "$@"; do
        object=$folder/$(basename "$source" .c).o
        # shellcheck disable=SC2086
        if ! $cc -I"$folder/changed" $flags -DCPU_LEVEL=base -c -o "$object" "$source" \
            >"$folder/said" 2>&1; then
            wrong "mutation $name does not compile" "$(tail -n 8 "$folder/said")"
            return
        fi
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    if ! linked "$folder/mutated" "$test" $objects >"$folder/said" 2>&1; then
        wrong "mutation $name does not link" "$(tail -n 8 "$folder/said")"
    elif timeout 300 "$folder/mutated" >"$folder/said" 2>&1; then
        wrong "mutation $name survives $test" "$file: $edit"
    else
        passed "mutation $name caught by $test"
    fi
}

algorithms=simulator/algorithms
float=simulator/arith_float.c
double=simulator/arith_double.c

mutant "PROB not rounded" test_algorithms $algorithms/fa2.c \
    's/round_at(r, s->P, SITE_PROB);//'
mutant "weights rounded before their sum" test_algorithms $algorithms/fa2.c \
    's/row_sum(r, s->l, s->P, SITE_ROW_SUM);/round_at(r, s->P, SITE_PROB); &/'
mutant "output not rescaled" test_algorithms $algorithms/fa2.c \
    's/mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);//'
mutant "sum not rescaled" test_exact_arith $algorithms/fa2.c \
    's/mul(r, s->l, s->l, s->decay, SITE_ROW_SUM);//'
mutant "tail and mask forgotten" test_algorithms $algorithms/fa2.c \
    's/hide_unseen(r, s);//'
mutant "always ascending" test_algorithms $algorithms/fa2.c \
    's/x->choices.descending ? tiles - 1 - n : n/n/'
mutant "warps' outputs added last to first" test_algorithms $algorithms/splitk.c \
    's/all->Y, v \* Br, c->columns/all->Y, (all->workers - 1 - v) * Br, c->columns/'
mutant "a warp's sum of rounded weights" test_algorithms $algorithms/splitk.c \
    's/take_block(r, c->P, s->P, 0, c->keys.first);/take_block(r, c->P, all->weight, 0, c->keys.first);/'
mutant "a warp's part on top of the last" test_algorithms $algorithms/splitk.c \
    's/fill(r, c->Y, 0);//'
mutant "P V kept in fp32 by autocast" test_algorithms $algorithms/autocast.c \
    's/round_at(r, b->Y, SITE_PV_STORE);//'
mutant "every maximum shifted" test_algorithms $algorithms/autocast.c \
    's/fill(r, b->count, -1);/fill(r, b->count, 1);/'
mutant "hidden keys weigh, backward" test_backward $algorithms/backward_warps.c \
    's/mask(r, c->P_k, &seen);//'
mutant "parts of dQ last to first" test_backward $algorithms/backward_warps.c \
    's/all->Y, v \* Br/all->Y, (all->key_workers - 1 - v) * Br/'
mutant "dK by rounded weights" test_backward $algorithms/backward_warps.c \
    's/c->dK, c->dS_k, c->all_Q/c->dK, c->P_k, c->all_Q/'
mutant "P exchanged unrounded" test_backward $algorithms/backward_warps.c \
    's/take_block(r, c->S, b->weight/take_block(r, c->S, b->s.P/'
mutant "fa1 keeps the old sum unscaled" test_exact_arith $algorithms/fa1.c \
    's/mul(r, b->l_old, s->l, s->decay, SITE_ROW_SUM);/copy(r, b->l_old, s->l);/'
mutant "online forgets what came before" test_exact_arith $algorithms/online.c \
    's/copy(r, s->l, e->w);/fill(r, s->l, 0);/'
mutant "S stored unrounded" test_algorithms $algorithms/standard.c \
    's/round_at(r, s.S, SITE_SCORE_STORE);//'
mutant "unstable made right" test_printed $algorithms/unstable.c \
    's/exp_shift(r, s.P, s.S, m_tile,/exp_shift(r, s.P, s.S, s.m,/'
mutant "tail masked where it should count" test_printed simulator/attention.c \
    's/key_count(x, j) < x->choices.Bc;/false;/'
mutant "LSE to base 2" test_contracts $algorithms/state.c \
    's/log_(r, s->L, s->l, SITE_LSE)/log2_(r, s->L, s->l, SITE_LSE)/'
mutant "scale rounded nowhere" test_algorithms $algorithms/state.c \
    's/constant(r, s->scale, (struct real){p->scale.value, p->scale.root, REAL_PLAIN})/fill(r, s->scale, real_value(\&(struct real){p->scale.value, p->scale.root, REAL_PLAIN}, false))/'
mutant "scale forgotten" test_contracts $algorithms/state.c \
    's/mul(r, s->S, s->S, s->scale, SITE_SCORE);//'
mutant "the wrong kv head" test_contracts simulator/attention.c \
    's/h->kv_head, h->k0 + key_first/h->head % h->problem->Hkv, h->k0 + key_first/'
mutant "causal one key short" test_visible simulator/visible.c 's/diagonal + 1/diagonal/'
mutant "window one key wide" test_visible simulator/visible.c 's/diagonal - mask->left/& + 1/'
mutant "rows past the end see" test_visible simulator/visible.c 's/row >= h->Nq/false/'

mutant "fmax swallows NaN" test_verbs simulator/arith_select.h \
    's/return !ignore_nan ? nan/return 0 ? nan/' $float $double
mutant "a shift of -inf subtracted" test_contracts simulator/arith_loops.h \
    's/m == -(REAL)INFINITY ? (REAL)0 : m/m/' $float $double
mutant "a row that sees nothing divided" test_contracts simulator/arith_select.h \
    's/        if (lo == hi)/        if (lo > hi)/' $float $double
mutant "the sum's chain starts at 0" test_algorithms simulator/arith_sums.h \
    's/chain ? row_chain(K, R, d\[r\], row_of(a, r), y, step, 0, lo, hi, a->cols)/chain ? op_add(K, R, d[r], row_chain(K, R, 0, row_of(a, r), y, step, 0, lo, hi, a->cols))/' \
    $float $double
mutant "the product's chain starts at 0" test_algorithms simulator/arith_products.h \
    's/if (from_zero)$/if (true)/' $float $double
mutant "unfused multiply-add" test_algorithms $float \
    's/#define fused_step fmaf/#define fused_step(a, b, c) ((a) * (b) + (c))/'
mutant "a product twice rounded" test_round_double $double \
    's/to_odd(product, fma(x, y, -product))/product/'
mutant "a fused step twice rounded" test_verbs $float \
    's/add_odd((double)a \* (double)b, (double)c)/(double)a * (double)b + (double)c/'
mutant "a sum without its odd bit" test_round simulator/round.h \
    's/    return to_odd(s, error);/    return error == 0 ? s : s;/'
mutant "quanta twice as wide" test_round simulator/round.h \
    's/power_of_two(53 - format_precision/power_of_two(54 - format_precision/'
mutant "saturated to infinity" test_round simulator/round.h 's/saturate ? top/saturate ? (double)INFINITY/'
mutant "a quotient twice rounded" test_round_double $double \
    's/to_odd(quotient, y < 0 ? -rest : rest)/quotient/'
mutant "a remainder of the wrong sign" test_round_double $double 's/y < 0 ? -rest : rest/rest/'
mutant "to odd from zero wraps around" test_round_double simulator/round.h \
    's/s == 0 ? sign | 1 : //' $double

mutant "both errors to the second site" test_ledger_calls simulator/lift.c \
    's/difference(got, middle, finite)/difference(got, want, finite)/'
mutant "an error forgotten" test_ledger simulator/ledger.c \
    's/ledger_log(l, c, c->site, error);/if (c->site != SITE_RESCALE) &/'
mutant "decisions taken anew" test_ledger_calls simulator/verbs.c \
    's/r->ledger != NULL \&\& ledger_replays(r->ledger)/false/'

mutant "a cell of a page not escaped" test_report_page simulator/report_page_html.c \
    's/page_escaped(out, b->cell\[i\]);/fputs(b->cell[i], out);/'
mutant "longer UTF-8 than need be" test_report_page reference/message.c \
    's/overlong || surrogate/surrogate/'
mutant "a cell of Markdown not escaped" test_report_page simulator/report_page_text.c \
    's/line(out, "| ", b->cell\[i\]/fprintf(out, "| %s%s", b->cell[i]/'
mutant "a contribution without its exact run" test_attribution simulator/attribution.c \
    's/            change\[i\] -= a->exact\[i\];//'
mutant "a removed site that still rounds" test_attribution simulator/attribution.c \
    's/    without.site\[site\] = alone.site\[SITE_OUT\];//'
mutant "OUT rounded before it is looked at" test_attribution simulator/attribution.c \
    's/open.site\[SITE_OUT\].format = wide ? FORMAT_EXACT : FORMAT_FP32;//'
mutant "the boundary on the other side" test_attribution reference/truth.c \
    's/rounded < correct ? below : above/rounded > correct ? below : above/'
mutant "spacing above a power of two below it" test_attribution reference/truth.c \
    's/    if (below < 0)/    if (false)/'
mutant "weights counted as exact" test_audit reference/bounds_budget.c \
    's/(1 + b->weight) \* (1 + b->partial)/(1 + b->partial)/'
mutant "partial outputs counted as exact" test_audit reference/bounds_budget.c \
    's/(1 + b->weight) \* (1 + b->partial)/(1 + b->weight)/'
mutant "stored scores counted as exact" test_audit reference/bounds_budget.c \
    's/b->score + softcap/softcap/g'
mutant "subnormal weights counted as exact" test_audit reference/bounds_budget.c \
    's/w->pi\[j\] > 0 ? b->tiny/false ? b->tiny/'
mutant "a map upside down" test_map simulator/map.c 's/m->y\[i\] < 0 ? -1 : 1/m->y[i] < 0 ? 1 : -1/'
mutant "a run that stays in the mean it left" test_map simulator/map.c \
    's/left += i == out ? 0 : m->weight/left += m->weight/;s/d2\[i\] += j == out ? 0 : /d2[i] += /'
mutant "every run weighed alike" test_map simulator/map.c 's|1.0 / kinds / members\[kind\[i\]\]|1.0 / m->count|'
mutant "the last key kept" test_audit_gate simulator/audit_gate.c \
    's/    h.Nk -= r == READ_LAST_KEY_DROPPED \&\& h.Nk > 0;//'
mutant "key heads in blocks all the same" test_audit_gate simulator/audit_gate.c \
    's/h.head % p->Hkv : h.kv_head/h.kv_head : h.kv_head/'
mutant "a claim that ignores its input" test_claims simulator/claims_a.c \
    's/double matmul = claim_number(in, INPUT_A1_MATMUL, 0)/double matmul = 312/'

fa2=simulator/splits_fa2.c
mutant "every count eligible" test_splits_fa2 $fa2 \
    's/return splits == 1 ||.*/return splits >= 1 || blocks == 0;/'
mutant "0.85 in fp32" test_splits_fa2 $fa2 \
    's/0.85 \* (double)w->best_efficiency/(double)(0.85f * w->best_efficiency)/'
mutant "the efficiency in double" test_splits_fa2 $fa2 \
    's/float waves = (float)(work \* splits) \/ (float)capacity;/double waves = (double)(work * splits) \/ (double)capacity;/; s/return waves \/ ceilf(waves)/return (float)(waves \/ ceil(waves))/'
mutant "a GPU full only above 0.8" test_splits_fa2 $fa2 's/>= 0.8f/> 0.8f/'
mutant "the best count, not the smallest good one" test_splits $fa2 \
    's/int splits = smallest_good(w, blocks);/int splits = w->best;/'
mutant "one slot more" test_splits_fa2 $fa2 's/(int64_t)factor \* l->sms/& + 1/'
mutant "heads never swapped" test_splits_fa2 $fa2 \
    's/return l->len_q == 1 \&\&/return l->len_q == 0 \&\&/'
mutant "blocks of 128 query rows" test_splits_fa2 $fa2 's/ROWS_PER_BLOCK = 64/ROWS_PER_BLOCK = 128/'
mutant "blocks of 64 keys at every size" test_splits $fa2 \
    's/l->dim <= 128 ? 128/l->dim <= 128 ? 64/'
mutant "the sequence's length for the cache's" test_splits $fa2 's/launch_capacity(l)/l->longest/'
mutant "the capacity of before 2.5.7" test_splits simulator/splits_names.c \
    's/!not_before(asked, since)/!newest/'
mutant "more than 128 splits" test_splits_fa2 $fa2 \
    's/smaller(MOST_SPLITS, smaller(w->capacity, blocks))/smaller(w->capacity, blocks)/'
mutant "XQA counts a tile too few" test_splits simulator/splits_rules.c \
    's/smaller(share, ceil_div(p->length, TILE))/smaller(share, p->length \/ TILE)/'
mutant "XQA by batch alone" test_splits simulator/splits_rules.c \
    's/larger(1, l->sms \/ (l->batch \* l->heads_kv));$/larger(1, l->sms \/ l->batch);/'
mutant "segments of the batch's longest" test_splits simulator/splits_rules.c '0,/p->own_length = true/s/p->own_length = true/p->own_length = false/'
mutant "the 2D path at 128 sequences" test_splits simulator/splits_rules.c \
    's/l->batch > SEQUENCES \/ l->heads_kv/l->batch > SEQUENCES/'
mutant "v1 for one sequence of 8,192" test_splits simulator/splits_rules.c \
    's/l->batch \* l->heads_q > MANY/true/'
mutant "a logarithm to base e" test_splits simulator/splits_rules.c \
    's/(float)log2((double)x)/(float)log((double)x)/'
mutant "an uneven batch unseen" test_splits simulator/splits_rules.c \
    's/ceil_div(l->longest, shortest), most)/ceil_div(l->longest, l->longest), most)/'
mutant "a last group past the end" test_splits simulator/splits.c 's/smaller(last, length)/last/'
mutant "round robin by tiles" test_splits simulator/splits.c \
    's/(i + n \* split_count(p, length))/(i + n)/'
mutant "cuts of the whole, not of the common tokens" test_splits_study simulator/splits_compare.c \
    's/c.cut = smaller(c.cut, tokens);//'
mutant "rounds that never come counted" test_splits_study simulator/splits_compare.c \
    's/groups == 1 || groups >= pieces/groups == 1/'
mutant "a combine of other lanes kept" test_splits_study simulator/splits_compare.c \
    's/ \&\& a->lanes == b->lanes//'
mutant "one group and several alike" test_splits_study simulator/splits_compare.c \
    's/ \&\& one_a == one_b//'
mutant "a boundary at the end shared" test_splits_study simulator/splits_compare.c \
    's/every >= length/every > length/'
mutant "the last step of a message forgotten" test_splits_study simulator/splits_workload.c \
    's/step < range->tokens/step < range->tokens - 1/'
mutant "stretches of whole blocks from 0" test_splits_study simulator/splits_invariant.c \
    's/ceil_div(x, step) \* step/x + step - 1/'

kernels=simulator/kernels
mutant "FA2 key blocks first to last" test_kernels $kernels/fa2.c \
    's/int n = b.n_max - 1; n >= b.n_min; n--/int n = b.n_min; n < b.n_max; n++/'
mutant "FA2 first add not fused" test_kernels $kernels/fa2_tile.c \
    's/row_sum_rescaled(r, s->l, s->P, s->decay, SITE_ROW_SUM);/mul(r, s->l, s->l, s->decay, SITE_ROW_SUM), row_sum(r, s->l, s->P, SITE_ROW_SUM);/'
mutant "FA2 exponent unfused" test_kernels $kernels/fa2_tile.c \
    's/fma_(r, s->P, s->S, s->scale_log2, s->bias, SITE_EXP_ARG);/mul(r, s->P, s->S, s->scale_log2, SITE_EXP_ARG); add(r, s->P, s->P, s->bias, SITE_EXP_ARG);/'
mutant "FA2 LSE to base 2" test_kernels $kernels/fa2_tile.c \
    '/mul(r, s->L, s->L, s->ln2, SITE_LSE);/d'
mutant "combine's LSE to base 2" test_kernels $kernels/fa2_split.c \
    's/fma_(r, s->L, s->L, s->ln2, g->m, SITE_LSE);/add(r, s->L, s->L, g->m, SITE_LSE);/'
mutant "a group's output rounded to bf16" test_kernels $kernels/fa2_split.c \
    's/round_at(r, s.O, SITE_PARTIAL_OUT);/round_at(r, s.O, SITE_PROB);/'
mutant "FA1 warps change places" test_kernels $kernels/fa1.c \
    's/int column = w \* CHUNK; column/int column = (3 - w) * CHUNK; column/'
mutant "FA1 keeps its maximum" test_kernels $kernels/fa1.c \
    '/mul(r, s->m, s->L, s->inverse_scale, SITE_EXP_BIAS);/d'
mutant "XQA weights rounded once" test_kernels $kernels/xqa_gemm1.c \
    '/round_at(r, s->narrow, SITE_PROB_RESCALE);/d'
mutant "XQA sum of unrounded weights" test_kernels $kernels/xqa.c \
    's/round_at(r, s->P, SITE_PROB); .*before.*//; s/row_sum(r, s->l, s->P, SITE_ROW_SUM);/& round_at(r, s->P, SITE_PROB);/'
mutant "XQA hint of warp 2 written" test_kernels $kernels/xqa_gemm1.c \
    's/(warp == 1 || warp == 2)/(warp == 1)/'
mutant "XQA maxima start far above" test_kernels $kernels/xqa.c \
    's/static const double safe_start = -1e5;/static const double safe_start = 1e5;/'
mutant "Triton's partials rounded" test_kernels $kernels/triton_decode.c \
    's/round_at(r, s->O, SITE_PARTIAL_OUT);/round_at(r, s->O, SITE_PROB);/'
mutant "Triton's scale folded" test_kernels $kernels/triton_tile.c \
    's/mul(r, s->S, s->S, s->scale, SITE_SCORE);/mul(r, s->S, s->S, s->scale, SITE_PROB);/'
mutant "SGLang splits last to first" test_kernels $kernels/sglang_decode.c \
    's/attend_split(r, x, &s, i, n)/attend_split(r, x, \&s, i, split_count(\&c->plan, x->head->Nk) - 1 - n)/'
mutant "reducer's partials in fp32" test_kernels $kernels/trtllm_reducer.c \
    's/round_at(r, s->part, SITE_PARTIAL_OUT);//'
mutant "tutorial's LSE natural" test_kernels $kernels/triton_fa.c \
    's/log2_(r, s.L, s.l, SITE_LSE);/log_(r, s.L, s.l, SITE_LSE);/'
sums=simulator/arith_sums.h
products=simulator/arith_products.h
fast=simulator/mma_fast.h
matrices=simulator/arith_mma.h
mutant "a swapped butterfly" test_order_lanes $products \
    's/before\[(t ^ o->offset\[n\]) \* width + c\]/before[(t ^ o->offset[o->offsets - 1 - n]) * width + c]/' $float $double
mutant "an unfused first add" test_order_lanes $sums \
    's/fused = decay != NULL \&\& o->fused/fused = false/' $float $double
mutant "every first add fused" test_order_lanes $sums \
    's/fused = decay != NULL \&\& o->fused/fused = decay != NULL/' $float $double
mutant "a lane without columns not rescaled" test_order_lanes $sums \
    's/decay != NULL ? op_mul(K, R, lane\[t\], \*decay) : (REAL)0/lane[t]/' $float $double
mutant "columns counted from the first seen" test_order_lanes $sums \
    's/\&lane\[o->owner\[n\]\];/\&lane[o->owner[(c + o->period - lo % o->period) % o->period]];/' $float $double
mutant "an offset that counts a lane twice" test_order simulator/order_lanes.c \
    's/ || reached_before(o, offset)//'
mutant "F of sm90 one less" test_mma simulator/mma.def \
    's/MMA(SM90, 16BIT, 16, 25/MMA(SM90, 16BIT, 16, 24/' simulator/mma_parse.c
mutant "F of sm80 one more" test_mma simulator/mma.def \
    's/MMA(SM80, 16BIT, 8, 24/MMA(SM80, 16BIT, 8, 25/' simulator/mma_parse.c
mutant "F of sm70 one more" test_mma simulator/mma.def \
    's/MMA(SM70, 16BIT, 4, 23/MMA(SM70, 16BIT, 4, 24/' simulator/mma_parse.c
mutant "L of sm90 8 for 16" test_mma simulator/mma.def \
    's/MMA(SM90, 16BIT, 16, 25/MMA(SM90, 16BIT, 8, 25/' simulator/mma_parse.c
mutant "L of sm80 16 for 8" test_mma simulator/mma.def \
    's/MMA(SM80, 16BIT, 8, 24/MMA(SM80, 16BIT, 16, 24/' simulator/mma_parse.c
mutant "e_zero of sm90 one more" test_mma simulator/mma.def \
    's/16BIT, 16, 25, 23, -133/16BIT, 16, 25, 23, -132/' simulator/mma_parse.c
mutant "rounded to nearest, not cut" test_mma simulator/mma.c 's/\.nearest = half/.nearest = true/'
mutant "the accumulator dropped" test_mma simulator/mma_step.c \
    's/(uint64_t)c->significand\[0\] << 23/0 * c->significand[0]/'
mutant "the accumulator added afterwards" test_mma simulator/mma_step.c \
    's/    take_accumulator(&terms, &z, L);/    float dot = 0; take_apart(\&z, \&dot, 1, 0, s->least_c); &/;s/return sum_of_terms(s, &terms, L);/return sum_of_terms(s, \&terms, L) + c;/'
mutant "a product normalised" test_mma simulator/mma_step.c \
    's/= a->exponent\[k\] + b->exponent\[k\];/& t->exponent[k] += (int32_t)(t->magnitude[k] >> 47);/'
mutant "terms cut downward" test_mma simulator/mma_step.c \
    's/int64_t units = (int64_t)(t->magnitude\[k\] >> shift);/int64_t units = (int64_t)(t->magnitude[k] >> shift) + (t->minus[k] \&\& t->magnitude[k] << (63 - shift) << 1);/'
mutant "k from last to first" test_mma $matrices \
    's/b\[k\] = seen ? mma_y(m, from + k, c)/b[k] = seen ? mma_y(m, p->depth - 1 - from - k, c)/;s/a\[k\] = seen ? p->x\[i \* p->x_row + (from + k)/a[k] = seen ? p->x[i * p->x_row + (p->depth - 1 - from - k)/' \
    $double
mutant "a zero that keeps its exponent" test_mma simulator/mma_step.c 's/(t->zero\[k\] & !count_zeros)/false/'
mutant "subnormals normalised" test_mma simulator/mma_step.c \
    's/p->power\[k\] > least ? p->power\[k\] : least/p->power[k]/'
mutant "overflow to the largest float" test_mma simulator/mma.c \
    's/double value = INFINITY;/double value = 0x1.fffffep127;/'
mutant "the fast form with F one less" test_mma_fast $fast \
    's/up = mma_power(s->F - top), down = mma_power(top - s->F)/up = mma_power(s->F - 1 - top), down = mma_power(top - s->F + 1)/' $float $double
mutant "the fast form among overflows" test_mma_fast $fast 's/MMA_MOST = 100/MMA_MOST = 130/' $float $double
mutant "the fast form among the tiny" test_mma_fast $fast 's/MMA_LEAST = -90/MMA_LEAST = -110/' $float $double
mutant "thirty-two products in 32 bits" test_mma_fast $fast 's/PART = 16/PART = 32/' $float $double
mutant "the fast form's -0 lost" test_mma $fast 's/ & (bits == 0);/;/' $float $double
mutant "the fast form's product cut late" test_mma_fast $fast \
    's/__builtin_convertvector(a\[k\] \* y \* up, mma_ints)/__builtin_convertvector(a[k] * y * up + 0.25f, mma_ints)/' $float $double
mutant "hidden terms times V" test_mma $matrices 's/b\[k\] = seen ? mma_y(m, from + k, c) : (REAL)0/b[k] = mma_y(m, from + k, c)/' $double

mutant "a .npy cut short taken" test_readers reference/tensor_npy.c \
    's/if (wanted != found)/if (wanted < found)/'
mutant "sequences that go back" test_readers reference/problem_build.c \
    's/if (cu\[i\] < cu\[i - 1\])/if (0)/'
mutant "a number cut to 63 bits" test_readers simulator/scenario_parse.c 's/if (errno != 0)/if (0)/'
mutant "a text longer than its room" test_readers simulator/device_file.c \
    's/if (length == room - 1)/if (0)/'
mutant "a trace's element outside its tile" test_readers simulator/trace_parse.c \
    's/if (e->worst != 0 \&\& e->worst >= (uint64_t)e->rows \* e->cols)/if (0)/'
mutant "a trace's number outside its table" test_readers simulator/trace_parse.c \
    's/if (\*number >= map->count\[k\])/if (0)/'
mutant "a chunk longer than its file" test_readers simulator/trace_chunks.c \
    's/if (length > r->left - 4)/if (0)/'
mutant "as many SMs as one likes" test_device_file simulator/device_file.c \
    's/1 <= x \&\& x <= MOST_SMS/1 <= x/'
mutant "a figure of zero" test_device_file simulator/device_file.c 's/if (!(0 < x/if (!(0 <= x/'
mutant "a number of any length" test_device_file simulator/device_file.c \
    's/end - r->at > NUMBER_ROOM/0/'
mutant "a file of holes read" test_tensor_bad reference/file_io.c 's/if (is_hollow(&info))/if (0)/'

emulator=gpu/emulator
if [ -f "$build/tests/emulated/bugs.checked.o" ]; then
mutant "the emulator: syncwarp orders nothing" test_emulator_races_checked $emulator/detector.c \
    's/^    tick(w->number);//'
mutant "the emulator: barriers do not join" test_emulator_races_checked $emulator/detector.c \
    's/memcpy(known\[w\], joined, sizeof joined);//'
mutant "the emulator: blocks are ordered" test_emulator_races_checked $emulator/detector.c \
    's/return block_of(s->when) >= first_block;/return false;/'
mutant "the emulator: reads forgotten" test_emulator_races_checked $emulator/detector.c \
    's/    u->read = j->now;//'
mutant "the emulator: copies end unseen" test_emulator_races_checked $emulator/detector.c \
    's/        u\[i\].write = now;/(void)now, (void)u;/'
mutant "the emulator: in flight not looked at" test_emulator_races_checked $emulator/detector.c \
    's/now_of(l, FLAG_IN_FLIGHT)/now_of(l, 0)/'
mutant "the emulator: wait for one group less" test_emulator_matrices $emulator/async.c \
    's/+ (unsigned)most < l->groups/+ (unsigned)most + 1 < l->groups/'
mutant "the emulator: wait for one group more" test_emulator_matrices $emulator/async.c \
    's/+ (unsigned)most < l->groups/+ (unsigned)most <= l->groups/'
mutant "the emulator: zeros not filled" test_emulator_matrices $emulator/async.c \
    's/memset(c->dst + c->bytes, 0/memset(c->dst + c->bytes, 1/'
mutant "the emulator: copies never late" test_emulator $emulator/async.c \
    's/        memset(dst, 0xFF, 16);/        perform(c);/'
mutant "the emulator: descending ascends" test_emulator $emulator/schedule.c \
    's/return 31 - __builtin_clz(set);/return __builtin_ctz(set);/'
mutant "the emulator: blocks always ascend" test_emulator $emulator/schedule.c \
    's/emulator_options.blocks == EMULATOR_DESCENDING/0/'
mutant "the emulator: exits complete no barrier" test_emulator $emulator/barrier.c \
    's/    if (emulated.barrier\[0\].arrived > 0 \&\&.*/    if (0)/'
mutant "the emulator: exits complete no collective" test_emulator_bugs $emulator/schedule.c \
    's/    leave_collectives(l);//'
mutant "the emulator: masks unchecked" test_emulator_bugs $emulator/collective.c \
    's/if ((mask \& own) == 0) {/if (0) {/'
mutant "the emulator: source lane unchecked" test_emulator_bugs $emulator/collective.c \
    's/if ((r->arrived >> source \& 1) == 0)/if (0)/'
mutant "the emulator: xor as add" test_emulator $emulator/collective.c \
    's/source = lane ^ argument;/source = lane + argument;/'
mutant "the emulator: segments ignored" test_emulator $emulator/collective.c \
    's/int first = lane \& ~(width - 1)/int first = 0/'
mutant "the emulator: a register not saved" test_emulator $emulator/fibre.c \
    's/"    pushq %rbx\\n"/"    pushq %rbp\\n"/'
mutant "the emulator: no guard for the end of shared" test_emulator_bugs $emulator/memory.c \
    's/while (from < to \&\& \*from == PATTERN)/while (from < to)/'
mutant "the emulator: no poison" test_emulator $emulator/schedule.c \
    's/    if (emulator_options.poison)/    if (0)/'
mutant "the emulator: halves of a swapped" test_emulator_matrices $emulator/mma_tile.c \
    's/number_of(pair \& 0xFFFF, bf16);/number_of(pair >> 16, bf16);/'
mutant "the emulator: a1 and a2 swapped" test_emulator_matrices $emulator/mma_tile.c \
    's|tile->a\[2 \* t + i / 2 \* 8\]\[g + i % 2 \* 8\]|tile->a[2 * t + i % 2 * 8][g + i / 2 * 8]|'
mutant "the emulator: trans not transposed" test_emulator_matrices $emulator/matrix.c \
    's/load_matrices(w, r, 4, true)/load_matrices(w, r, 4, false)/'
mutant "the emulator: fp16 subnormals lost" test_emulator_matrices $emulator/mma_tile.c \
    's/magnitude << 13) \* 0x1p112f/(magnitude < 0x400 ? 0 : magnitude) << 13) * 0x1p112f/'
mutant "the emulator: banks of eight bytes" test_emulator_races_checked $emulator/banks.c \
    's|(uintptr_t)address\[n\] / 4 +|(uintptr_t)address[n] / 8 +|'
mutant "the emulator: sectors of 64 bytes" test_emulator_races_checked $emulator/banks.c \
    's/SECTOR = 32/SECTOR = 64/'
mutant "the emulator: lanes dropped silently" test_emulator_lanes_checked $emulator/lanes.c \
    's/count < emulator_options.most_lane_accesses ? more() : NULL/more()/'
mutant "the emulator: barrier sites not compared" test_emulator_bugs $emulator/barrier.c \
    's/        b->divergent = true;/        ;/'
else
    skipped "mutations of the emulator" 'apt-get install g++, then make test-full'
fi

plan_end
