/* trace.h: what happened, step by step: shared by walk, audit, viewer, tests and the emulator.

   In memory: a list of events, each with coordinates, drift and, if asked for, the values and the
   exact twin's values.  On disk: a little-endian container of chunks, each with a CRC-32:
   META (key = value text), STRS (names), EVNT, SNAP (values), TWIN (exact values as two doubles),
   LANE, AUDT, SYNC; trace_data.h has the bytes.  Unknown chunks are skipped; a newer major version is
   refused in a sentence.  Valid C++17: no dependence on the simulator. */
#ifndef FLASHULP_TRACE_H
#define FLASHULP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reference/message.h"

/* What is kept beside coordinates and drift: nothing; max |x|; max |x| and every value. */
enum trace_detail { TRACE_EVENTS, TRACE_STATS, TRACE_VALUES };

enum {
    EVENT_UNCHANGED = 1,      /* no bit differs from the tile's last event: not shown */
    EVENT_DIFFERENT_KIND = 2, /* some element is NaN or infinite where the exact one is not */
    EVENT_MASKED = 4,         /* lo, hi of the rows are kept: trace_append sets or clears it */
    EVENT_HAS_TWIN = 8        /* worst, local and inherited were measured */
};

struct event {
    uint32_t step, tensor, site, format; /* enums of the tables; format: that of the drift's ulps */
    uint32_t batch, head, block, warp, sm, split, i, j;
    uint32_t rows, cols, flags, worst; /* < rows * cols, or 0: drift is of it */
    uint64_t time, bytes;
    double max_abs;          /* largest |x|; 0 at TRACE_EVENTS */
    double local, inherited; /* drift of the worst element, signed ulps: this step's and the rest */
};

struct trace;
struct trace *trace_new(enum trace_detail detail); /* NULL: no memory */
void trace_free(struct trace *t);
enum trace_detail trace_detail(const struct trace *t);
/* At TRACE_VALUES, keep the values of these steps alone: bits 1 << step.  All, unless it is called. */
void trace_keep(struct trace *t, uint64_t steps);

/* Appends the event as the recorder filled it; values (rows * cols), exact (pairs high, low) and
   intervals (rows each, 0 <= lo <= hi <= cols) may be NULL and are kept at TRACE_VALUES only.  NaNs
   are kept as the canonical one.  Out of memory, the trace ends there: trace_complete says. */
void trace_append(struct trace *t, const struct event *e, const double *values,
                  const double (*exact)[2], const int *lo, const int *hi);
/* False: memory ran out, and what came later is missing.  Such a trace is not written. */
bool trace_complete(const struct trace *t);

size_t trace_count(const struct trace *t);
const struct event *trace_event(const struct trace *t, size_t n);
const double *trace_values(const struct trace *t, size_t n);       /* NULL: not kept */
const double (*trace_exact(const struct trace *t, size_t n))[2];   /* NULL: not kept */
const int *trace_intervals(const struct trace *t, size_t n);       /* lo then hi; NULL */

/* An event's step, tensor, site and format in words.  Numbers are this build's; a name that a file
   has and this build has not gets a number past the table's end and keeps its text. */
enum trace_table { TRACE_STEPS, TRACE_TENSORS, TRACE_SITES, TRACE_FORMATS, TRACE_TABLES };
const char *trace_name(const struct trace *t, enum trace_table table, uint32_t number);

/* Text about the whole: command, problem, policy, device.  A key is not empty and has no '=' or
   line break; a later value replaces an earlier one. */
void trace_set_meta(struct trace *t, const char *key, const char *value);
const char *trace_meta(const struct trace *t, const char *key); /* NULL: none */

/* The same trace gives the same bytes.  LANE, AUDT and SYNC chunks that were read are written back. */
bool trace_write(const struct trace *t, const char *path, bool force, struct message *why);
struct trace *trace_read(const char *path, struct message *why); /* NULL: refused */
/* The same from memory; sentences do not name the file. */
struct trace *trace_parse(const unsigned char *bytes, size_t size, struct message *why);

/* META as "# key = value", a heading, then one line per event: its index, step, tensor, those of
   batch, head, split, i, j that vary, shape, max |x|, and drift in ulps: local, inherited ("-":
   not measured); at the end "=" when unchanged, "!" when of a different kind. */
void trace_dump(const struct trace *t, FILE *out);
/* Chrome/Perfetto JSON: a process per (batch, head), in it a track per (split, block), a slice per
   event, from its time (microseconds; its index where no event has a time) to the track's next. */
bool trace_write_perfetto(const struct trace *t, const char *path, bool force, struct message *why);

#endif
