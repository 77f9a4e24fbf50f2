#!/bin/sh
# Runs every benchmark and prints one table: what, ours, compared with, ratio, goal, met or slower.
# usage: tests/bench/run.sh BUILD
build=$1 status=0
echo "CPU time of one thread, medians of interleaved rounds; ratio = ours / other."
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1)," \
     "load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
printf '%-25s %8s  %-23s %6s %4s\n' what ours 'compared with' ratio goal
"$build"/tests/bench/bench_calibration || status=1
for b in fa2 trace round memory special; do
    [ -x "$build/tests/bench/bench_$b" ] || { echo "bench_$b: missing"; status=1; continue; }
    "$build/tests/bench/bench_$b" || { echo "bench_$b: failed"; status=1; }
done
echo "Missing peers: CPFloat, SLEEF, CORE-MATH, torch are not looked for."
exit $status
