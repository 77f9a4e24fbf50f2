/* list_kernels.h: `flashulp list kernels`. */
#ifndef FLASHULP_CLI_LIST_KERNELS_H
#define FLASHULP_CLI_LIST_KERNELS_H

#include "simulator/report.h"

void cli_list_kernels(struct report *r, struct json *list);

#endif
