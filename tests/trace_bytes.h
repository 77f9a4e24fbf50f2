/* trace_bytes.h: taking trace files apart by hand, for tests and fuzzing.

   Reads and changes the container without the code under test, but for the CRC. */
#ifndef FLASHULP_TESTS_TRACE_BYTES_H
#define FLASHULP_TESTS_TRACE_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "reference/crc32.h"
#include "simulator/trace_data.h"

static inline uint64_t bytes_get(const unsigned char *at, int width)
{
    uint64_t x = 0;
    for (int i = width; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

static inline void bytes_put(unsigned char *at, int width, uint64_t x)
{
    for (int i = 0; i < width; i++)
        at[i] = (unsigned char)(x >> 8 * i);
}

/* Makes every CRC right again, as far as the chunks can be followed. */
static inline void repair(unsigned char *bytes, size_t size)
{
    if (size < 16)
        return;
    bytes_put(bytes + 12, 4, crc32_ieee(0, bytes, 12));
    for (size_t at = 16; size - at >= 16;) {
        uint64_t length = bytes_get(bytes + at + 4, 8);
        if (length > size - at - 16)
            return;
        uint32_t crc = crc32_ieee(0, bytes + at, (size_t)length + 12);
        bytes_put(bytes + at + 12 + length, 4, crc);
        at += (size_t)length + 16;
    }
}

/* Where chunk `tag`, which is there, begins. */
static inline size_t chunk_at(const unsigned char *bytes, size_t size, const char *tag)
{
    for (size_t at = 16; size - at >= 16; at += (size_t)bytes_get(bytes + at + 4, 8) + 16)
        if (memcmp(bytes + at, tag, 4) == 0)
            return at;
    abort();
}

/* Touches all that a reader of the trace may touch. */
static inline double touch(const struct trace *t)
{
    double sum = 0;
    for (size_t n = 0; n < trace_count(t); n++) {
        const struct event *e = trace_event(t, n);
        const double *values = trace_values(t, n);
        const double(*exact)[2] = trace_exact(t, n);
        const int *intervals = trace_intervals(t, n);
        for (size_t i = 0; values != NULL && i < (size_t)e->rows * e->cols; i++)
            sum += values[i];
        for (size_t i = 0; exact != NULL && i < (size_t)e->rows * e->cols; i++)
            sum += exact[i][0] + exact[i][1];
        for (size_t i = 0; intervals != NULL && i < 2 * (size_t)e->rows; i++)
            sum += intervals[i];
        if (values != NULL && (size_t)e->rows * e->cols != 0)
            sum += values[e->worst];
        sum += (double)strlen(trace_name(t, TRACE_SITES, e->site));
    }
    return sum;
}

#endif
