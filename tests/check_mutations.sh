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

# What a test consists of besides its own file.
parts() {
    case $1 in
    test_algorithms) echo tests/oracle_attention.c tests/oracle_number.c ;;
    test_round*) echo tests/oracle_number.c ;;
    test_verbs*) echo tests/verb_case.c ;;
    esac
}

# linked OUT TEST OBJECTS...: the test with these objects before the library's.  Its own objects are
# compiled once; with a changed header (in $folder/changed) the test sees it too.
linked() {
    out=$1 test=$2
    shift 2
    # shellcheck disable=SC2046,SC2086
    $cc -I"$folder/changed" $flags -o "$out" "tests/$test.c" $(parts "$test") "$@" \
        "$build/libflashulp.a" $libraries
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
    *.h) ;;
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
    's/escaped(out, b->cell\[i\]);/fputs(b->cell[i], out);/'
mutant "longer UTF-8 than need be" test_report_page simulator/report_page_html.c \
    's/code >= least\[length\]/true/'
mutant "a cell of Markdown not escaped" test_report_page simulator/report_page_text.c \
    's/line(out, "| ", b->cell\[i\]/fprintf(out, "| %s%s", b->cell[i]/'
mutant "a claim that ignores its input" test_claims simulator/claims_a.c \
    's/double matmul = claim_number(in, INPUT_A1_MATMUL, 0)/double matmul = 312/'

plan_end
