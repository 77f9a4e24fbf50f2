/* trace_chunks.h: the container taken apart: numbers out of bytes, chunks out of a file.

   For trace_parse.c, trace_lanes.c and trace_sync.c; these two write their chunks themselves.  Every size is compared with the bytes that are there. */
#ifndef FLASHULP_TRACE_CHUNKS_H
#define FLASHULP_TRACE_CHUNKS_H

#include "simulator/trace_data.h"

/* Bytes not yet read.  Reading past the end gives zeros and is remembered. */
struct reader {
    const unsigned char *at;
    size_t left;
    bool ran_out;
};
/* The next bytes; NULL when there are not as many. */
const unsigned char *take_bytes(struct reader *r, size_t bytes);
uint64_t get_number(struct reader *r, int bytes);
uint32_t get_u32(struct reader *r);
uint64_t get_u64(struct reader *r);
double get_double(struct reader *r); /* NaNs canonical */
double get_float(struct reader *r);

/* x in so many bytes; returns the place behind. */
unsigned char *put_number(unsigned char *to, uint64_t x, int bytes);
/* A chunk's names: u32 count, of each: u16 length, text, cut at TRACE_LONGEST_NAME. */
struct names {
    const unsigned char *at; /* of the first one's length */
    size_t count;
};
size_t names_bytes(const char *const *name, size_t count);
unsigned char *put_names(unsigned char *to, const char *const *name, size_t count);
struct names take_names(struct reader *r); /* r->ran_out: they are not all there */
/* The text, `length` characters without an end; n is below the count. */
const char *name_at(struct names names, size_t n, size_t *length);

enum part { META, STRS, EVNT, SNAP, TWIN, LANE, AUDT, SYNC, PARTS };
struct parts {
    struct reader of[PARTS]; /* at = NULL: no such chunk */
};
/* Where the contents of the known chunks are, every chunk's CRC checked, up to TEND and not a byte
   more; STRS and EVNT are there. */
bool trace_find_parts(const unsigned char *bytes, size_t size, struct parts *parts,
                      struct message *why);

#endif
