/* splits_picture.c: the boundaries of the groups, drawn in letters. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

enum { NAMES = 15, COLUMNS = 63, TICK = 9 };

/* Tokens of a column: a block, or more where a group has more than TICK blocks, so that several
   groups are seen. */
static int64_t column_tokens(const struct splits_page *page)
{
    int64_t most = 1;
    for (int d = 0; d < page->request->devices; d++) {
        const struct split_plan *p = &page->plan[d];
        int64_t blocks =
            p->order == GROUPS_ROUND_ROBIN ? 1 : split_blocks(p, page->request->launch.longest);
        if (blocks > most)
            most = blocks;
    }
    return page->plan[0].block_tokens * ((most + TICK - 1) / TICK);
}

/* Does a boundary, or with round robin a new round, lie in tokens [from, to)?  At the start, yes. */
static bool boundary_in(const struct split_plan *p, int64_t length, int64_t from, int64_t to)
{
    int64_t every = split_blocks(p, length) * p->block_tokens;
    if (p->order == GROUPS_ROUND_ROBIN)
        every = split_count(p, length) * p->block_tokens;
    return every > 0 && (from + every - 1) / every * every < to;
}

static void draw_axis(char **text, int64_t tokens, int columns)
{
    char *line = NULL;
    int used = 0;
    for (int c = 0; c < columns; c += TICK - 1) {
        struct grouped label = grouped(c * tokens);
        int length = (int)strlen(label.text);
        if ((c > 0 && c <= used) || c + length > COLUMNS)
            continue;
        text_append(&line, "%*s%s", c - used, "", label.text);
        used = c + length;
    }
    text_append(text, " %-*s%s\n", NAMES - 1, "token", line);
    free(line);
}

void splits_picture(const struct splits_page *page, char **text)
{
    const struct splits_request *q = page->request;
    int64_t length = q->launch.longest, tokens = column_tokens(page);
    int64_t whole = (length + tokens - 1) / tokens;
    int columns = whole < COLUMNS ? (int)whole : COLUMNS;
    if (length == 0) {
        text_append(text, " no tokens: every group is empty\n");
        return;
    }
    draw_axis(text, tokens, columns);
    for (int d = 0; d < q->devices; d++) {
        text_append(text, " %-*.*s", NAMES - 1, NAMES - 2, q->device[d].name);
        for (int c = 0; c < columns; c++)
            text_append(text, "%c",
                        boundary_in(&page->plan[d], length, c * tokens, (c + 1) * tokens) ? '|'
                                                                                          : '-');
        text_append(text, "%s\n", whole <= COLUMNS ? "]" : "");
    }
    if (page->plan[0].order == GROUPS_ROUND_ROBIN)
        text_append(text,
                    " a column is a tile of %" PRId64
                    "; | begins a round: tile t is of group t mod splits\n",
                    page->plan[0].block_tokens);
}
