/* special_table.h: special functions as a GPU computes them, probed input by input: the file format
   that the probe writes, and its reader.  The layout below is valid C++17.

   All numbers little-endian.  Header, 256 bytes:
       0   8  "ULPTABLE"
       8   4  version, 1
      12   4  sections S, 1 to 64
      16  32  SHA-256 of every byte of the file from 48 on
      48   8  length of the file
      56   8  0
      64  16  architecture, "sm90"            text: printable ASCII, zeros after it, at least one
      80  64  device, "NVIDIA H200"
     144  64  driver and tools, "driver 570.86, CUDA 12.8"
     208  48  0
   then S sections of 48 bytes:
       0   8  function: "ex2", "lg2", "rcp", "tanh", zeros after it
       8   4  layout: 1 a range of inputs, 2 one entry for each fraction of x (rcp only)
      12   4  entry: 1 int8 or 2 int16 steps from the correctly rounded result; 4 the result's bits
      16   4  flags: 1 the instruction flushes subnormal inputs and results to zero (.ftz)
      20   4  0
      24   8  first input's bits (layout 2: 0)
      32   8  entries (layout 2: 2^23)
      40   8  where they begin in the file: a multiple of 8, behind the sections
   Layout 1: entry n belongs to the input of bits first + n; first + entries <= 2^32, so 2^32 bytes
   hold a whole function.  Several sections of one function may not overlap.  Layout 2: entry n
   belongs to 1.n in [1, 2); the other binades follow by powers of two, rounded where subnormal.
   A step is one place among the floats in order of value; the zeros are one place, +0 where steps
   lead to it, and no step leads beyond infinity.  NaN in: 7FC00000 out, whatever the entry.  Inputs
   without an entry, and functions without a section, are correctly rounded. */
#ifndef FLASHULP_SPECIAL_TABLE_H
#define FLASHULP_SPECIAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLE_HEADER_BYTES = 256,
    TABLE_SECTION_BYTES = 48,
    TABLE_SECTIONS = 64,
    TABLE_HASHED_FROM = 48,
    TABLE_VERSION = 1,
    TABLE_RANGE = 1,
    TABLE_FRACTION = 2,
    TABLE_FTZ = 1
};
#define TABLE_MAGIC "ULPTABLE"

/* The instructions a table may hold. */
enum table_function { TABLE_EX2, TABLE_LG2, TABLE_RCP, TABLE_TANH, TABLE_FUNCTIONS };

struct message;
struct special_table;

/* Maps the file, checks every size and the checksum.  Opened once for each path, kept until the
   program ends; NULL with a sentence. */
const struct special_table *special_table_open(const char *path, struct message *why);

bool special_table_has(const struct special_table *t, enum table_function fn);
const char *table_function_name(enum table_function fn);
/* y[i] = fn(x[i]); y may be x. */
void special_table_apply(const struct special_table *t, enum table_function fn, float *y,
                         const float *x, size_t n);

struct special_table_info {
    const char *path, *name; /* name: the path without its folders */
    const char *architecture, *device, *driver;
    const char *sha256; /* of the bytes from TABLE_HASHED_FROM on */
};
struct special_table_info special_table_info(const struct special_table *t);

#endif
