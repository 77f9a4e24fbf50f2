/* flashulp.h: the library's face: a problem in the words of the command, its run, its true digits.

   The only installed header; valid C and C++.  Types are opaque and every function takes plain C
   types, so a program built against one release runs with a later one of the same FLASHULP_ABI.
   Handles share nothing: different threads may use different ones.  LC_NUMERIC is to be "C", as it
   is when a program starts.  Compile and link with pkg-config --cflags --libs flashulp.  When memory
   is out the library may end the program. */
#ifndef FLASHULP_H
#define FLASHULP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define FLASHULP_ABI 1 /* rises when an older program would not work; the shared library's number */

/* The ABI of the library that is linked, to be compared with FLASHULP_ABI; its version, "0.1". */
int flashulp_abi(void);
const char *flashulp_version(void);

typedef struct flashulp flashulp;

/* Words as behind `flashulp run`: a problem, then options of problem and run, such as
       {"minilm-4", "--policy", "gpu-bf16"}
   (flashulp run --help; `flashulp list examples` names problems).  NULL only when memory is out:
   else ask flashulp_why.  --generate needs the program: the library has no generators. */
flashulp *flashulp_new(int count, const char *const *words);
void flashulp_free(flashulp *f); /* NULL is fine */

/* What the last function called on f refused, in one sentence; NULL when it did what it was asked.
   A handle refused by flashulp_new can only be asked this and freed. */
const char *flashulp_why(const flashulp *f);

/* What ran, as a command that runs it again. */
const char *flashulp_command(const flashulp *f);

/* Sizes of the output: batches, query heads, queries, columns. */
void flashulp_shape(const flashulp *f, int64_t shape[4]);

/* Computes.  The results below are those of the last run, and f's until the next or flashulp_free;
   before the first they are NULL and 0. */
bool flashulp_run(flashulp *f);

/* O[b,h,n,d] row by row, L[b,h,n] (natural logarithm); doubles hold every format exactly. */
const double *flashulp_output(const flashulp *f);
const double *flashulp_lse(const flashulp *f);

/* FNV-1a-64 over O's little-endian bytes in the format of site OUT, then L in fp32: the digest that
   `flashulp run` prints. */
uint64_t flashulp_digest(const flashulp *f);

/* The true O[b,h,n,d], or with d = -1 the true L[b,h,n], of the inputs as they are after INPUT:
   `digits` (1 to 100,000) significant digits, each of them certified, "24.926527345857697674".
   To be freed with flashulp_text_free; NULL: refused. */
char *flashulp_exact(flashulp *f, int64_t b, int64_t h, int64_t n, int64_t d, int digits);
void flashulp_text_free(char *text);

/* Runs once more, recording every step with its values and exact values, into a .trace file that
   `flashulp trace FILE` shows.  Written whole or not at all; `force` replaces an existing file. */
bool flashulp_trace(flashulp *f, const char *path, bool force);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
