/* names.h: which kernel a function is, by the symbols of the running program. */
#ifndef FLASHULP_PTX_NAMES_H
#define FLASHULP_PTX_NAMES_H

/* The function's mangled name, as PTX spells it, or NULL; `nm` reads the program's symbols. */
const char *ptx_name_of(const void *function);

#endif
