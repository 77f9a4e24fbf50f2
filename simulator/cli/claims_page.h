/* claims_page.h: the ledger as a page: verdicts counted, the statements by source, why some fail. */
#ifndef FLASHULP_CLI_CLAIMS_PAGE_H
#define FLASHULP_CLI_CLAIMS_PAGE_H

#include "simulator/claims.h"
#include "simulator/report.h"

struct claims_page {
    struct report *report;
    struct page_block *figure, *table; /* verdicts; statements of the source at hand */
    int count[VERDICT_COUNT], total, changed;
    char *reasons;     /* rows of the table at the end */
    char *derivations; /* with --explain: their lines */
};

void claims_page_begin(struct claims_page *p, struct report *r);
/* The next statements are from this source. */
void claims_page_group(struct claims_page *p, enum claim_group g);
void claims_page_add(struct claims_page *p, const struct claim_info *info,
                     const struct claim_outcome *out);
void claims_page_end(struct claims_page *p);

#endif
