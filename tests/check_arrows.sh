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
rule "visualize reaches the simulator through traces, scenarios, tables and schedules" visualize '#include "(simulator/(arith|walk|audit|claims|run|watch|ledger|algorithms/|kernels/|cli/)|gpu|lessons|tests)' '^$'
rule "nothing below includes visualize" "reference simulator gpu" '#include "visualize/' '^$'
rule "SDL.h in one file" visualize '#include <SDL' '^visualize/window\.c$'
rule "png.h in one file" visualize '#include <png\.h>' '^visualize/picture_png\.c$'
rule "the emulator takes of the simulator mma, special_poly and trace" gpu/emulator \
    '#include "simulator/(a|b|cl|co|d|e|f|g|i|k|le|li|ma|o|p|re|run|sc|si|splits|stats|ti|v|wa|wo)|#include "(gpu/[a-z_]+\.h|visualize|lessons|tests)' '^$'
plan_end
