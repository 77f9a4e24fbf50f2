/* trace_chunks.h: the container taken apart: numbers out of bytes, chunks out of a file.

   For trace_parse.c and trace_lanes.c.  Every size is compared with the bytes that are there. */
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

enum part { META, STRS, EVNT, SNAP, TWIN, LANE, AUDT, PARTS };
struct parts {
    struct reader of[PARTS]; /* at = NULL: no such chunk */
};
/* Where the contents of the known chunks are, every chunk's CRC checked, up to TEND and not a byte
   more; STRS and EVNT are there. */
bool trace_find_parts(const unsigned char *bytes, size_t size, struct parts *parts,
                      struct message *why);

#endif
