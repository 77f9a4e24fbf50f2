#!/bin/sh
# The arrows of the design: who may include what.  Prints TAP; exits 1 when an arrow points back.
. "$(dirname "$0")/tap.sh"
# rule NAME FILES-WHERE PATTERN ALLOWED: the pattern may stand only in files matching ALLOWED (ERE)
rule() {
    found=$(grep -rlE --include='*.c' --include='*.h' --include='*.def' "$3" $2 2>/dev/null | grep -vE "$4")
    same "$1" "$found" ''
}
rule "reference includes nothing of the simulator" reference '#include "(simulator|gpu|visualize|lessons|tests)/' '^$'
rule "simulator includes nothing above it" simulator '#include "(gpu|visualize|lessons|tests)/' '^$'
rule "mpfr.h only in reference, arith_mpfr, special, claims" "reference simulator" '#include <mpfr.h>' '^reference/|^simulator/(arith_mpfr|special|claims)'
rule "GSL only in inputs and stats" "reference simulator" '#include <gsl/' '^simulator/(inputs|stats)\.c$'
rule "cJSON only in tensor and report" "reference simulator" '#include <cjson/' '^reference/tensor|^simulator/report'
rule "algorithms and kernels do no arithmetic of their own" "simulator/algorithms simulator/kernels" '#include <tgmath.h>|fmaf?\(|expf?\(' '^$'
plan_end
