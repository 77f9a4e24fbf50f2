/* trace.h: what happened, step by step: shared by walk, audit, viewer, tests and the emulator.

   In memory: a list of events, each with coordinates, drift and, if asked for, the values and the
   exact twin's values.  On disk: a little-endian container of chunks, each with a CRC-32:
   META (key = value text), STRS (names), EVNT, SNAP (values), TWIN (exact values as two doubles),
   LANE, AUDT.  Unknown chunks are skipped; a newer major version is refused in a sentence.
   Valid C++17: no dependence on the simulator. */
#ifndef FLASHULP_TRACE_H
#define FLASHULP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reference/message.h"

enum trace_detail { TRACE_EVENTS, TRACE_STATS, TRACE_VALUES };

enum {
    EVENT_UNCHANGED = 1,      /* no bit differs from the tile's last event: not shown */
    EVENT_DIFFERENT_KIND = 2, /* some element is NaN or infinite where the exact one is not */
    EVENT_MASKED = 4,         /* lo, hi of the rows are kept */
    EVENT_HAS_TWIN = 8
};

struct event {
    uint32_t step, tensor, site, format; /* enums of the tables; format: that of the drift's ulps */
    uint32_t batch, head, block, warp, sm, split, i, j;
    uint32_t rows, cols, flags, worst; /* worst: index of the element the drift is of */
    uint64_t time, bytes;
    double max_abs;          /* largest |x| */
    double local, inherited; /* drift of the worst element, ulps, signed: this step's and the rest */
};

struct trace;
struct trace *trace_new(enum trace_detail detail);
void trace_free(struct trace *t);
enum trace_detail trace_detail(const struct trace *t);

/* Appends; values (rows * cols), exact (pairs high, low) and intervals (rows each) may be NULL. */
void trace_append(struct trace *t, const struct event *e, const double *values,
                  const double (*exact)[2], const int *lo, const int *hi);

size_t trace_count(const struct trace *t);
const struct event *trace_event(const struct trace *t, size_t n);
const double *trace_values(const struct trace *t, size_t n);       /* NULL: not kept */
const double (*trace_exact(const struct trace *t, size_t n))[2];   /* NULL: not kept */
const int *trace_intervals(const struct trace *t, size_t n);       /* lo then hi; NULL */

/* Text about the whole: command, problem, policy, device. */
void trace_set_meta(struct trace *t, const char *key, const char *value);
const char *trace_meta(const struct trace *t, const char *key); /* NULL: none */

bool trace_write(const struct trace *t, const char *path, bool force, struct message *why);
struct trace *trace_read(const char *path, struct message *why);
/* One line per event; names come from the STRS chunk, so a trace explains itself. */
void trace_dump(const struct trace *t, FILE *out);
/* Chrome/Perfetto JSON: one track per (batch, head, split), one slice per event. */
bool trace_write_perfetto(const struct trace *t, const char *path, bool force, struct message *why);

#endif
