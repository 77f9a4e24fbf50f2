/* bench_emulator.c: the emulator's switch from one fibre to the next, 32 of them in a ring: at most
   5 ns.  What a kernel costs there: bench_gpu.c. */
#include "gpu/emulator/fibre.h"
#include "tests/bench/bench.h"

enum { LANES = 32, ROUNDS = 20000 };

static struct fibre ring[LANES], host;
static int turn;
static long left;

/* Each fibre goes on to the next. */
static void go_round(void)
{
    const int own = turn, next = (turn + 1) % LANES;
    for (;;) {
        if (--left <= 0)
            fibre_switch(&ring[own], &host);
        turn = next;
        fibre_switch(&ring[own], &ring[next]);
    }
}

static void switches(void *with)
{
    (void)with;
    turn = 0;
    left = (long)LANES * ROUNDS;
    for (int i = 0; i < LANES; i++)
        fibre_prepare(&ring[i], i, go_round);
    fibre_switch(&host, &ring[0]);
}

int main(void)
{
    struct peer peer = {"fibre switch", switches, NULL, 0, 0, NULL};
    if (!fibre_stacks_need(LANES))
        return 1;
    bench_rounds(&peer, 1, 41);
    bench_row(peer.name, peer.median / (LANES * ROUNDS) * 1e9, "ns", "5 ns", 5, 1);
    return 0;
}
