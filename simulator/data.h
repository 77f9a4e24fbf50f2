/* data.h: where the files that come with FlashULP lie: captures of real attention layers, lessons.

   Looked for in the folder that $FLASHULP_DATA (lessons: $FLASHULP_LESSONS) names, alone, if that is
   set; else in tests/data (lessons) of the source tree (one folder above the program, or the
   current folder), in share/flashulp/data (lessons) beside the program's bin, and in the one of the
   PREFIX that was built for. */
#ifndef FLASHULP_DATA_H
#define FLASHULP_DATA_H

#include "reference/message.h"

enum shipped { SHIPPED_DATA, SHIPPED_LESSONS };

/* The path of that file, malloc'ed; NULL with a sentence that says where it is not. */
char *shipped_file(enum shipped kind, const char *name, struct message *why);
char *data_file(const char *name, struct message *why);

/* The folder the running program lies in, symbolic links followed, or "" where that is not known;
   `folder` has room for PATH_MAX bytes. */
void program_folder(char *folder);

#endif
