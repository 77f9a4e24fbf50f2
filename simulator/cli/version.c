/* version.c: which FlashULP this is: release, and revision of the source where it was known. */
#include "simulator/cli/cli.h"
#include "simulator/flashulp.h"

#ifndef REVISION
#define REVISION ""
#endif

const char *cli_revision(void)
{
    return REVISION;
}
