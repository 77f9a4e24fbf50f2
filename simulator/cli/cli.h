/* cli.h: the verbs of the command, one file each; what they share.

   A verb gets the words after its name.  It returns the exit status: 0 yes or done, 1 no, 2 bad
   usage or input, after one sentence on the error output ("flashulp VERB: ..."). */
#ifndef FLASHULP_CLI_H
#define FLASHULP_CLI_H

#include "simulator/report.h"

int cli_walk(int argc, char **argv);
int cli_bits(int argc, char **argv);
int cli_lesson(int argc, char **argv);
int cli_exact(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_claims(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_splits(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_recipe(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_worksheet(int argc, char **argv);
int cli_lab(int argc, char **argv);
int cli_battery(int argc, char **argv);
int cli_gpu(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_doctor(int argc, char **argv);

/* Prints "flashulp VERB: sentence" on the error output; returns 2. */
int cli_refused(const char *verb, const struct message *why);

/* The verb's usage and options; returns 0. */
int cli_help(enum command command);

/* The headings of the options in help and manual; NULL behind the last. */
struct cli_group {
    unsigned group;
    const char *title;
};
const struct cli_group *cli_group(int n);
/* How a problem is written: lines. */
extern const char cli_problem_text[];
/* The n-th table of `flashulp list`; NULL behind the last. */
const char *cli_list_table(int n);

/* `flashulp --man [VERB]`: the manual page; `flashulp --completion bash|zsh|fish`.  Both are made
   from the tables, for make install. */
int cli_man(const char *verb);
int cli_completion(const char *shell);

/* Ends a page and its JSON: command and version, and in the JSON what is not established. */
void cli_sign(struct report *r);

/* Is figure `name` drawn, by --figure or because none is named?  And is what --figure names one of
   `names`, "weights exponentials"? */
bool cli_draws(const struct scenario *s, const char *name);
bool cli_check_figure(const struct scenario *s, const char *names, struct message *why);

/* What git called the source this was built from, or "". */
const char *cli_revision(void);

/* The scenario of a verb.  False: --help was printed or a sentence was, and *status is the exit. */
bool cli_scenario(struct scenario *s, enum command command, int argc, char **argv, int *status);

/* Says on the error output, when it is a terminal or a minute is expected, how long it may take. */
void cli_expect(const char *verb, double seconds);
/* done of total, at most ten times a second, from the second second on, only on a terminal;
   total = done erases the line. */
void cli_progress(const char *verb, int64_t done, int64_t total);

#endif
