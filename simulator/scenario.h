/* scenario.h: everything the command line can say, as one value.

   Parsed from words, printed back as a command, turned into a problem and a simulation.  The
   command and the viewer use the same struct, so any view can be copied as a command.  The options
   are the rows of options.def. */
#ifndef FLASHULP_SCENARIO_H
#define FLASHULP_SCENARIO_H

#include "simulator/simulate.h"
#include "simulator/trace.h"

enum option {
#define OPTION(id, ...) OPTION_##id,
#include "simulator/options.def"
#undef OPTION
    OPTION_COUNT
};

enum command {
#define COMMAND(id, ...) COMMAND_##id,
#include "simulator/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

/* Which verbs take an option: bits of options.def's `groups`. */
enum option_group {
    GROUP_PROBLEM = 1,  /* where Q, K, V come from and the masks */
    GROUP_SELECT = 2,   /* which rows are looked at */
    GROUP_RUN = 4,      /* algorithm, policy, tiles, arithmetic */
    GROUP_REPORT = 8,   /* --json, -o, --force */
    GROUP_WALK = 16,    /* walk's own */
    GROUP_EXACT = 32,   /* exact's own */
    GROUP_TRACE = 64,   /* trace's own */
    GROUP_OUTPUT = 128, /* --out, --lse */
    GROUP_BITS = 256,   /* bits' own */
    GROUP_LIST = 512,
    GROUP_CLAIMS = 1024, /* claims' own */
    GROUP_COMPARE = 2048, /* compare's own; the verb takes two words */
    GROUP_SPLITS = 4096,  /* splits' own */
    GROUP_AUDIT = 8192,   /* audit's own */
    GROUP_PLAN = 16384,   /* plan's own */
    GROUP_GRADIENT = 32768, /* --do: the backward pass, too */
    GROUP_BATTERY = 65536,  /* battery's own */
    GROUP_VIEW = 131072,    /* view's own */
    GROUP_LAB = 262144,     /* lab's own; the verb takes two words */
    GROUP_WORKSHEET = 524288, /* worksheet's own */
    GROUP_ATOMIC = 1048576, /* in which order dQ is added up */
    GROUP_SCENE = 2097152   /* what a scene of view is about */
};

struct option_info {
    const char *name, *argument; /* argument "": a switch */
    bool repeatable;
    unsigned groups;
    const char *meaning;
};
const struct option_info *option_info(enum option o);

struct command_info {
    const char *name, *section;
    unsigned groups;
    const char *arguments, *meaning;
};
const struct command_info *command_info(enum command c);

struct scenario {
    const char *verb;
    char *problem;             /* the positional argument, or NULL */
    char *other;               /* the second, of the verb that takes two, or NULL */
    char *value[OPTION_COUNT]; /* an option's text (repeatable ones: joined by '\n'), or NULL */
    bool given[OPTION_COUNT];
};

/* Parses argv (without program and verb) against the verb's option groups.  Unknown options are
   refused with the nearest known one; values are checked when they are used. */
bool scenario_parse(struct scenario *s, const char *verb, unsigned groups, int argc, char **argv,
                    struct message *why);
void scenario_free(struct scenario *s);
/* "flashulp walk fa2-4 --policy gpu-bf16": parsing this gives the same scenario.  malloc'ed. */
char *scenario_command(const struct scenario *s);

/* What the reader should be told about how the input was taken ("uint16 taken as bf16 bits",
   "12 of 4,096 inputs were rounded to bf16 at INPUT"): lines, malloc'ed, or "". */
struct scenario_input {
    struct problem problem;
    char *name; /* how to call the problem in a headline */
    char *remarks;
    int64_t input_rounded, input_elements;
    enum format input_format; /* what Q, K, V hold after INPUT (their storage may be wider) */
    const struct example_figures *figures; /* the article's printed numbers (examples.h), or NULL */
};
bool scenario_problem(const struct scenario *s, struct scenario_input *in, struct message *why);
void scenario_input_free(struct scenario_input *in);

/* Algorithm, policy, tiles, arithmetic.  The default policy follows the input: bf16 -> gpu-bf16,
   fp16 -> gpu-fp16, fp8 -> fp8, else fp32. */
bool scenario_simulation(const struct scenario *s, const struct scenario_input *in,
                         struct simulation *simulation, struct message *why);

/* Which rows are looked at: --batch --heads --rows --dims --sample. */
struct selection {
    int64_t rows;        /* selected */
    int64_t rows_total;  /* of the problem */
    int64_t *unit, *row; /* per selected row: problem_head's n, row within the head */
    int64_t dims;
    int64_t *dim;
};
bool scenario_select(const struct scenario *s, const struct problem *p, struct selection *selection,
                     struct message *why);
void selection_free(struct selection *selection);

/* Runs it with a trace; NULL with a sentence. */
struct trace *scenario_trace(const struct scenario *s, enum trace_detail detail, bool twin,
                             struct message *why);

/* What a thread that has worked on scenarios keeps for itself is freed: before it ends. */
void scenario_thread_done(void);

/* Generators live in the program (GSL stays out of the library); the program registers them.
   Fills q, k, v of the given shape from a family, a seed: the same numbers on every machine. */
struct generator_request {
    const char *family;
    uint64_t seed;
    int64_t B, Hq, Hkv, Nq, Nk, D;
};
typedef bool generate_inputs(const struct generator_request *g, struct tensor *q, struct tensor *k,
                             struct tensor *v, struct message *why);
void scenario_register_generator(generate_inputs *generate, const char *const *families, int count);

#endif
