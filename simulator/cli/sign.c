/* sign.c: what a report that may be kept says of itself: the command, the version that ran it. */
#include <stdlib.h>

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
