/* sign.c: what a report that may be kept says of itself: the command, the version that ran it; and
   which of its figures are drawn. */
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/flashulp.h"

void cli_sign(struct report *r)
{
    const char *revision = cli_revision();
    char *command = scenario_command(r->scenario);
    struct json *list = json_list(r->json, "not_established");
    for (int n = 0; page_unknown(r->page, n) != NULL; n++)
        json_string(list, NULL, page_unknown(r->page, n));
    json_string(r->json, "version", flashulp_version());
    json_string(r->json, "revision", revision);
    page_footer(r->page, "command", "%s", command);
    page_footer(r->page, "version", "flashulp %s%s%s%s", flashulp_version(),
                revision[0] != 0 ? " (" : "", revision, revision[0] != 0 ? ")" : "");
    free(command);
}

bool cli_draws(const struct scenario *s, const char *name)
{
    return s->value[OPTION_FIGURE] == NULL || strcmp(s->value[OPTION_FIGURE], name) == 0;
}

bool cli_check_figure(const struct scenario *s, const char *names, struct message *why)
{
    const char *asked = s->value[OPTION_FIGURE];
    size_t length = asked != NULL ? strlen(asked) : 0;
    for (const char *at = names; asked != NULL && (at = strstr(at, asked)) != NULL; at++)
        if ((at == names || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ') && length > 0)
            return true;
    return asked == NULL || refuse(why, "--figure %.40s: one of these is right: %s", asked, names);
}
