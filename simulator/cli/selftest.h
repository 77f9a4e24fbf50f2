/* selftest.h: runs whose digests are recorded: does this build compute the bits it should?

   The rows are selftest.def: words behind `flashulp run` and the digest they are to give.  Problems
   are examples and generated ones, so no file is needed. */
#ifndef FLASHULP_CLI_SELFTEST_H
#define FLASHULP_CLI_SELFTEST_H

#include "reference/message.h"

#include <stdint.h>

struct selftest {
    const char *words;
    uint64_t want, got;
};
/* How many rows there are; runs one of them.  False: it was refused. */
int selftest_count(void);
bool selftest_run(int row, struct selftest *t, struct message *why);

#endif
