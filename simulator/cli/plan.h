/* plan.h: what the files of `flashulp plan` share: the request, what it costs on each device, and
   its pages. */
#ifndef FLASHULP_CLI_PLAN_H
#define FLASHULP_CLI_PLAN_H

#include "simulator/cost.h"
#include "simulator/report.h"

enum { PLAN_DEVICES = 10, SWEEP_ROWS = 3, SWEEP_COLUMNS = 4, SWEEP_WARPS = 2 };

struct plan_page {
    struct report *report;
    struct plan_request request;
    const char *example; /* or NULL */
    bool sweep;
    int devices; /* at least one */
    struct device_record device[PLAN_DEVICES];
    struct cost cost[PLAN_DEVICES];
};

/* "fa2   batch 2   16 heads   8,192 tokens   d 128   causal" */
void plan_headline(const struct plan_page *page, char **text);
/* "fits", "spills, 256 of 255", "too big: 192 of 163 KB"; malloc'ed. */
char *plan_verdict(const struct cost *c, enum architecture a);
/* "2.41 - 5.1", or "-" where there is no time. */
struct plan_span {
    char text[40];
};
struct plan_span plan_milliseconds(const struct cost *c);
/* The n-th tile of the sweep; false behind the last. */
bool plan_sweep_tile(int n, struct tiling *t);

/* What a key tile costs the warps of a block of fa2 or backward, shared by rows and by keys; false for
   other launches. */
struct tile_exchange;
bool plan_warps(const struct plan_page *page, const struct cost *c, struct tile_exchange *rows,
                struct tile_exchange *keys);

/* The table of devices; of one device everything. */
void plan_text(struct plan_page *page);
/* Every tile of the sweep on every device. */
bool plan_sweep(struct plan_page *page, struct message *why);
void plan_json(struct plan_page *page);
/* On the page: what shares of a cell's operations and of its time are no matrix products; heads that
   share keys; the sweep. */
void plan_figures(struct plan_page *page);
void plan_report_page(struct plan_page *page);

#endif
