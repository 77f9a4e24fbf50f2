/* trace_data.h: what trace*.c share: the structure in memory and the container's bytes.

   All numbers little-endian; f64 and f32 are IEEE 754 bits, NaN always the canonical one.
   File:   "ULPTRACE"  u16 major  u16 minor  u32 CRC of these 12 bytes  chunks, TEND last
   chunk:  4 letters  u64 length  that many bytes  u32 CRC of letters, length and bytes
   META    lines "key = value"; in values \ is \\ and a line break \n
   STRS    u32 tables, of each: u32 names, of each: u16 length, text; events count names there
   EVNT    u32 record size (>= 104)  u32 detail  u64 events, of each: 16 u32, 2 u64, 3 f64, in the
           order of struct event, then what a later minor version added
   SNAP    u64 records, of each, events ascending: u64 event  u32 kind  u64 values  the values
           (f32 where that loses nothing)  lo, hi of each row (i32) where kind says so
   TWIN    u64 records, of each, events ascending: u64 event  u64 values  high, low of each (f64)
   LANE    trace_lanes.h
   SYNC    trace_sync.h (version 1.1) */
#ifndef FLASHULP_TRACE_DATA_H
#define FLASHULP_TRACE_DATA_H

#include "simulator/trace.h"

enum { TRACE_MAJOR = 1, TRACE_MINOR = 1 };
enum {
    TRACE_HEADER_BYTES = 16,
    TRACE_CHUNK_BYTES = 16, /* letters, length and CRC */
    TRACE_EVENT_BYTES = 104,
    TRACE_MOST_NAMES = 1024, /* of one table; and of META keys */
    TRACE_LONGEST_NAME = 255
};
enum { SNAP_VALUES = 1, SNAP_FLOATS = 2, SNAP_INTERVALS = 4 };

struct record {
    struct event event;
    double *values;
    double (*exact)[2];
    int *intervals; /* lo of every row, then hi */
};

/* LANE, AUDT and SYNC, kept as they were read. */
enum trace_carried { CARRIED_LANE, CARRIED_AUDT, CARRIED_SYNC, CARRIED_COUNT };
struct carried {
    bool present;
    unsigned char *bytes;
    size_t size;
};

struct trace {
    enum trace_detail detail;
    bool out_of_memory;
    uint64_t left_out; /* steps whose values are not kept: bits 1 << step */
    struct record *records;
    size_t count, room;
    char **extra[TRACE_TABLES]; /* names this build does not know */
    size_t extra_count[TRACE_TABLES];
    char **meta; /* key, value, key, value, ... */
    size_t meta_count;
    struct carried carried[CARRIED_COUNT];
};

extern const char *const trace_carried_tag[CARRIED_COUNT];

/* How many names the table has, those of this trace alone included. */
uint32_t trace_names(const struct trace *t, enum trace_table table);
/* The number of a name, new if it is unknown; false when there is no memory. */
bool trace_number(struct trace *t, enum trace_table table, const char *name, uint32_t *number);
/* Do these bytes, the first 16 of a file or all of a shorter one, begin a trace we can read? */
bool trace_check_header(const unsigned char *bytes, size_t size, struct message *why);
/* The sentence for a trace that is not complete. */
bool trace_refuse_incomplete(const struct trace *t, const char *path, struct message *why);
/* An empty record behind the others, or NULL. */
struct record *trace_new_record(struct trace *t);
/* count * size bytes, at least one; NULL also when the product overflows. */
void *trace_allocate(uint64_t count, size_t size);
/* x, or the canonical NaN. */
double trace_canonical(double x);

#endif
