/* origins.c: see origins.h. */
#include "gpu/emulator/origins.h"

#include <stdlib.h>

#include "gpu/emulator/symbols.h"

/* Numbers of sites are below every address of code. */
enum { MOST_SITES = 4096 };
static struct cuemu_site known[MOST_SITES];
static unsigned known_count;

uint64_t origin_of_site(struct cuemu_site at)
{
    static unsigned slot[1024]; /* the site's number by a hash of its line, or 0 */
    unsigned *last = &slot[(unsigned)at.line % 1024];
    if (*last != 0 && known[*last - 1].line == at.line && known[*last - 1].file == at.file)
        return *last;
    for (unsigned n = 0; n < known_count; n++)
        if (known[n].line == at.line && known[n].file == at.file)
            return *last = n + 1;
    if (known_count == MOST_SITES)
        return 0;
    known[known_count++] = at;
    return *last = known_count;
}

void sites_of_origins(const uint64_t *from, int count, struct cuemu_site *site)
{
    const void **pc = calloc((size_t)count + 1, sizeof *pc);
    if (pc == NULL)
        abort();
    for (int n = 0; n < count; n++)
        if (from[n] > MOST_SITES)
            pc[n] = (const void *)(uintptr_t)from[n];
    sites_of(pc, count, site);
    for (int n = 0; n < count; n++)
        if (from[n] > 0 && from[n] <= MOST_SITES)
            site[n] = known[from[n] - 1];
    free(pc);
}
