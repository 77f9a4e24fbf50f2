/* reader.h: a PTX file while it is read. */
#ifndef FLASHULP_PTX_READER_H
#define FLASHULP_PTX_READER_H

#include "gpu/ptx/parts.h"

enum { PTX_BANKS = 8, PTX_LABEL = 48 };

struct ptx_reader {
    const char *path;
    int line;
    struct message *why;
    struct ptx_kernel *kernel; /* the one being read */
    struct {
        char prefix[8];
        int first, count;
    } bank[PTX_BANKS]; /* its registers: %r0 .. %r<count>, say */
    int banks;
    struct {
        char name[PTX_LABEL];
        int at; /* index of an instruction, or -1: not seen yet */
    } * label;
    int labels;
    int code_room;
};

/* One sentence with the file and the line; returns false. */
bool ptx_refuse(const struct ptx_reader *r, const char *what, const char *text);
/* The label's number; a new one if it has not been named before. */
int ptx_label(struct ptx_reader *r, const char *text, size_t length);
/* instruction.c: "add.s32 %r1, %r2, 3", without the semicolon. */
bool ptx_instruction(struct ptx_reader *r, const char *text);

#endif
