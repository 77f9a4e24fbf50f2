/* lanes_example.c: runs gpu/examples/exchange.cu on the emulator and writes what its lanes did: the
   trace that `flashulp view lanes.trace` shows (make lanes-example).  usage: lanes_example FILE */
#include <stdio.h>

#include "gpu/emulator/device.h"
#include "gpu/emulator/emulator.h"
#include "simulator/trace.h"

void run_exchange(const float *scores, float *sums);

enum { SCORES = 2 * 6 * 32, SUMS = 32 };

int main(int argc, char **argv)
{
    static float scores[SCORES];
    struct emulator_options options = emulator_defaults();
    struct message why;
    float *in = dev_alloc(sizeof scores), *out = dev_alloc(SUMS * sizeof *out);
    struct trace *t = trace_new(TRACE_EVENTS);
    if (argc != 2 || in == NULL || out == NULL || t == NULL)
        return 2;
    for (int n = 0; n < SCORES; n++)
        scores[n] = (float)(n % 7);
    dev_copy_in(in, scores, sizeof scores);
    options.detector = true;
    options.most_lane_accesses = 100000;
    emulator_configure(&options);
    emulator_reset();
    run_exchange(in, out);
    trace_set_meta(t, "kernel", "exchange");
    trace_set_meta(t, "problem", "gpu/examples/exchange.cu");
    trace_set_meta(t, "device", "the emulator: a CPU, no GPU");
    if (emulator_lanes(t) && trace_write(t, argv[1], true, &why)) {
        trace_free(t);
        return 0;
    }
    fprintf(stderr, "lanes_example: %s\n", why.text);
    return 2;
}
