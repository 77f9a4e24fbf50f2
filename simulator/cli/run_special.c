/* run_special.c: the table of special functions a run used, in its report. */
#include "simulator/cli/run_special.h"

#include <stdlib.h>

#include "simulator/scenario_parts.h"
#include "simulator/special_table.h"

void describe_table(struct report *r, const struct simulation *s)
{
    const struct special_table *t = s->policy.special.table;
    if (t == NULL)
        return;
    struct special_table_info info = special_table_info(t);
    char *words = NULL;
    text_append(&words, "%s: probed on %s (%s), %s; sha256 %.16s...; in sites of fp32 and narrower",
                info.name, info.device, info.architecture, info.driver, info.sha256);
    report_text(r, "table  ");
    text_wrapped(&r->text, 7, 7, words);
    free(words);
    struct json *j = json_object(r->json, "special_table");
    struct json *functions = json_list(j, "functions");
    for (int fn = 0; fn < TABLE_FUNCTIONS; fn++)
        if (special_table_has(t, (enum table_function)fn))
            json_string(functions, NULL, table_function_name((enum table_function)fn));
    json_string(j, "file", info.path);
    json_string(j, "architecture", info.architecture);
    json_string(j, "device", info.device);
    json_string(j, "driver", info.driver);
    json_string(j, "sha256", info.sha256);
}
