/* bug_case.h: one kernel of bugs.cu: what must be reported, where; the rest of the table is silent.

   Lines are found by the comment that stands on them: NAME, and NAME_OTHER for the other party. */
#ifndef FLASHULP_TESTS_EMULATED_BUG_CASE_H
#define FLASHULP_TESTS_EMULATED_BUG_CASE_H

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/emulated/devices.h"

bool run_bug(const char *name, void *out, void *in, const float *host);
bool alignment_is_seen(void);
void run_shape(unsigned grid, unsigned block, unsigned shared, float *out);

#define BUGS_FILE "tests/emulated/bugs.cu"

/* The line that carries the comment, 0 if none does. */
static inline int line_of(const char *name, const char *ending)
{
    char comment[80] = "/* ", line[256];
    size_t used = strlen(comment);
    for (const char *from = name; *from != '\0'; from++)
        comment[used++] = (char)toupper((unsigned char)*from);
    snprintf(comment + used, sizeof comment - used, "%s */", ending);
    FILE *file = fopen(BUGS_FILE, "r");
    int number = 0, found = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && found == 0) {
        number++;
        if (strstr(line, comment) != NULL)
            found = number;
    }
    fclose(file);
    return found;
}

static inline bool has_line_numbers(void)
{
    return system("command -v addr2line >/dev/null 2>&1") == 0;
}

/* Is there a report of that fault at that line?  by_symbol: the line comes from addr2line. */
static inline bool reported(const char *bug, enum emulator_fault fault, bool by_symbol)
{
    int line = line_of(bug, ""), other = line_of(bug, "_OTHER");
    bool unknown = by_symbol && !has_line_numbers();
    for (int n = 0; n < emulator_reports(); n++) {
        const struct emulator_report *r = emulator_report(n);
        bool in_file = strcmp(r->file, BUGS_FILE) == 0;
        bool both = r->line == line && (other == 0 || r->other_line == other);
        bool swapped = r->line == other && r->other_line == line;
        bool prologue = by_symbol && (r->line == line || r->line == other); /* compilers differ */
        if (r->fault == fault && ((in_file && (both || swapped || prologue)) || unknown))
            return true;
    }
    return false;
}

static inline void launch_bug(const char *bug)
{
    static const float zeros[1024];
    void *out = dev_alloc(1024), *in = dev_alloc(4096);
    dev_copy_in(out, zeros, 1024);
    dev_copy_in(in, zeros, 4096);
    emulator_reset();
    assert_true(run_bug(bug, out, in, zeros));
    dev_free(out);
    dev_free(in);
}

static inline void assert_reported(const char *bug, enum emulator_fault fault, bool by_symbol)
{
    if (reported(bug, fault, by_symbol))
        return;
    for (int n = 0; n < emulator_reports(); n++)
        print_message("# %s\n", emulator_report(n)->text);
    fail_msg("%s: not reported: %s, %s:%d (run_bug in it)", bug, emulator_fault_meaning(fault),
             BUGS_FILE, line_of(bug, ""));
}

#endif
