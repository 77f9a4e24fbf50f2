/* list_kernels.h: what the files of `flashulp list` share. */
#ifndef FLASHULP_CLI_LIST_KERNELS_H
#define FLASHULP_CLI_LIST_KERNELS_H

#include "simulator/report.h"

/* One entry: in the text, the table and the JSON list; note may be "". */
void list_entry(struct report *r, struct json *list, const char *name, const char *meaning,
                    const char *note);
void cli_list_kernels(struct report *r, struct json *list);
void cli_list_decode(struct report *r, struct json *list);
void cli_list_faults(struct report *r, struct json *list);
void cli_list_alterations(struct report *r, struct json *list);

#endif
