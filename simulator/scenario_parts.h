/* scenario_parts.h: what the files of scenario share: numbers and lists out of option texts.

   Every parser names the option in its sentence and takes nothing but the whole text. */
#ifndef FLASHULP_SCENARIO_PARTS_H
#define FLASHULP_SCENARIO_PARTS_H

#include <stdarg.h>

#include "simulator/examples.h"
#include "simulator/scenario.h"

bool parse_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *x,
                   struct message *why);
/* Exactly `count` whole numbers, separated by commas; `form` is how they are written. */
bool parse_integers(const char *option, const char *text, const char *form, int count,
                    int64_t least, int64_t most, int64_t *x, struct message *why);
/* Any number of them, malloc'ed. */
bool parse_list(const char *option, const char *text, int64_t **list, int64_t *count,
                struct message *why);
/* "0,2-4" as marks[0..size), malloc'ed. */
bool parse_marks(const char *option, const char *text, int64_t size, bool **marks,
                 struct message *why);
bool parse_real(const char *option, const char *text, double *x, struct message *why);

/* Calls `take` with every line of a repeatable option's text, NULL being none, until one fails. */
bool each_line(const char *lines, bool (*take)(void *with, const char *line, struct message *why),
               void *with, struct message *why);

/* Appends to a malloc'ed text; NULL is an empty one.  Ends the program when memory is out. */
void text_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append_list(char **text, const char *format, va_list arguments);

/* Appends words broken into lines of at most 79 columns, and a line break; the text's last line has
   `column` columns already, the next ones begin with `indent` blanks. */
void text_wrapped(char **text, int column, int indent, const char *words);

/* "27,525"; the buffer is the caller's. */
struct grouped {
    char text[32];
};
struct grouped grouped(int64_t n);

/* The named example the scenario is about, or false. */
bool scenario_example(const struct scenario *s, enum example *e);
/* The option's text, or what the example says in its place, or NULL. */
const char *scenario_tile(const struct scenario *s);
bool scenario_algorithm(const struct scenario *s, enum algorithm *a, struct message *why);
/* `held`: what the inputs are; it chooses the policy when none is named. */
bool scenario_policy(const struct scenario *s, enum format held, struct policy *p,
                     struct message *why);
/* --set, --order, --special. */
bool scenario_policy_changes(const struct scenario *s, struct policy *p, struct message *why);
/* --kernel, --device, --option: what runs, and its policy. */
bool scenario_kernel(const struct scenario *s, const struct scenario_input *in,
                     struct simulation *simulation, struct message *why);
/* What decode's switches say about the policy, and about the choices; nothing, for others. */
bool scenario_decode_policy(const struct scenario *s, struct policy *p, struct message *why);
/* Where the weights that l sums were rounded last: EXP, or PROB by decode's sum=rounded. */
enum site scenario_summed(const struct scenario *s);
bool scenario_decode(const struct scenario *s, const struct problem *p, struct choices *c,
                     struct message *why);

/* The registered generator, or NULL; its families. */
generate_inputs *scenario_generator(const char *const **families, int *count);

#endif
