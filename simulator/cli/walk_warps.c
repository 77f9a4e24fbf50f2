/* walk_warps.c: below a walk of splitk or splitq: what each warp holds, reads and writes. */
#include <inttypes.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/exchange.h"
#include "simulator/scenario_parts.h"

static void list_warps(struct report *r, const struct exchange *e)
{
    struct json *list = json_list(r->json, "warps");
    json_whole(r->json, "barriers", e->barriers);
    json_whole(r->json, "shared_bytes", e->shared);
    for (int w = 0; w < e->warps; w++) {
        struct json *j = json_object(list, NULL);
        json_whole(j, "held_bytes", e->warp[w].held);
        json_whole(j, "input_bytes_read", e->warp[w].inputs);
        json_whole(j, "result_bytes_written", e->warp[w].writes);
        json_whole(j, "result_bytes_read", e->warp[w].reads);
        json_whole(j, "sum_bytes", e->warp[w].sums);
        json_whole(j, "waits", e->warp[w].waits);
    }
}

void show_warps(struct report *r, const struct walk *w)
{
    struct exchange e;
    char *words = NULL;
    bool shared =
        w->simulation.algorithm == ALGORITHM_SPLITK || w->simulation.algorithm == ALGORITHM_SPLITQ;
    if (w->simulation.is_kernel || !shared)
        return;
    if (w->backward)
        exchange_count_backward(&w->simulation, &w->head, &w->given.dO, &e);
    else
        exchange_count(&w->simulation, &w->head, &e);
    report_text(r,
                "\n bytes of   registers   %s    results    results   waits for\n"
                " warp            held      read    written       read     results\n",
                w->backward ? "Q,K,V,dO" : "Q, K, V");
    for (int n = 0; n < e.warps; n++)
        report_text(r, " %4d %15s %9s %10s %10s %11" PRId64 "\n", n, grouped(e.warp[n].held).text,
                    grouped(e.warp[n].inputs).text, grouped(e.warp[n].writes).text,
                    grouped(e.warp[n].reads).text, e.warp[n].waits);
    text_append(&words,
                " %" PRId64 " barriers in the block, those for loaded tiles included; %s bytes "
                "of shared memory",
                e.barriers, grouped(e.shared).text);
    show_words(r, 1, words);
    list_warps(r, &e);
}
