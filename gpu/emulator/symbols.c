/* symbols.c: see symbols.h. */
#include "gpu/emulator/symbols.h"

struct cuemu_site site_of_pc(const void *pc)
{
    (void)pc;
    return (struct cuemu_site){0, 0};
}
