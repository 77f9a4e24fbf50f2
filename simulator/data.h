/* data.h: where the files that come with FlashULP lie: captures of real attention layers.

   Looked for in $FLASHULP_DATA alone if that is set; else in tests/data of the source tree (one
   folder above the program, or the current folder), in share/flashulp/data beside the program's
   bin, and in the one of the PREFIX that was built for. */
#ifndef FLASHULP_DATA_H
#define FLASHULP_DATA_H

#include "reference/message.h"

/* The path of that file, malloc'ed; NULL with a sentence that says where it is not. */
char *data_file(const char *name, struct message *why);

/* The folder the running program lies in, symbolic links followed, or "" where that is not known;
   `folder` has room for PATH_MAX bytes. */
void program_folder(char *folder);

#endif
