/* grade.h: how a lab file is judged.

   A lab is a row of labs.def and a check.c: properties with points, each with a function that makes
   states, has the student's functions called on them in a process of its own, and compares what
   came back.  What is right is computed here, and only after the answer has come: nothing that
   process could read or print helps it.  A property passes when its function ran to its end and
   nothing failed. */
#ifndef FLASHULP_GRADE_H
#define FLASHULP_GRADE_H

#include "lessons/driver.h"
#include "simulator/process.h"

enum field {
#define FIELD(name, rows, columns) FIELD_##name,
#include "lessons/fields.def"
#undef FIELD
    FIELD_COUNT
};
#define WRITES(name) (1u << FIELD_##name)

enum { MAX_PROPERTIES = 12, MAX_STEPS = 6, MAX_SHAPES = 6 };

/* What one student's copy asks for that another's may not. */
enum knob { KNOB_BASE = 1, KNOB_DIRECTION = 2, KNOB_WINDOW = 4, KNOB_BITS = 8, KNOB_SHAPE = 16 };
struct variant {
    const char *student; /* NULL: nobody's; every legal form passes */
    int base;            /* of what the lab's base_of names: 2, or 0 for e; -1: either */
    int direction;       /* of key tiles: 1 first to last, -1 last to first, 0: either */
    int window;          /* keys to the left; -1: none */
    int bits;            /* of a significand's fraction */
    int shape;           /* one of the lab's shapes */
    uint64_t seed;       /* of drawn numbers: secret */
};

struct grading;
struct property {
    const char *name;
    int points;
    void (*judge)(struct grading *g);
    bool hidden; /* its sentence waits until the due date */
};

/* What one process of a lab file may use. */
struct allowance {
    double seconds; /* on the wall, and of processor time */
    int memory;     /* MiB of address space; the emulator's own comes on top */
    int output;     /* kB it may print */
};
struct allowance lab_allowance(void); /* a lab's own, unless the course has another */

struct lab {
    const char *number, *folder, *title;
    const char *steps[MAX_STEPS]; /* the functions a file defines */
    uint32_t writes[MAX_STEPS];   /* the fields each may change */
    unsigned knobs;
    const char *base_of;    /* what KNOB_BASE is about; NULL: L */
    const char *shape[2];   /* KNOB_SHAPE in words, before and behind the number */
    int shapes[MAX_SHAPES]; /* nobody's first, which no student has; 0 behind the last */
    bool cuda;              /* its steps are kernels of a block for each row, of v.shape threads */
    struct allowance allowance;
    struct property properties[MAX_PROPERTIES]; /* those without a name are not there */
};
/* The n-th lab, NULL behind the last; by number ("7", "07") or folder's name, or a sentence. */
const struct lab *lab_at(int n);
const struct lab *lab_from_name(const char *name, struct message *why);
int lab_points(const struct lab *lab);

/* What the student's file became. */
struct built {
    char folder[256]; /* where it was built; removed by built_remove */
    bool ok;
    bool cuda;
    char sentence[320]; /* why it is not ok: the compiler's first error, or what is not allowed */
};
/* Preprocesses, checks what was included, compiles, links.  False: the grader itself is at
   fault. */
bool build_lab(const struct lab *lab, const struct variant *v, const char *path, struct built *b,
               struct message *why);
void built_remove(struct built *b);

struct finding {
    bool begun, failed;
    char sentence[320];   /* the first thing that went wrong */
    char difference[160]; /* the first number that did, "tile (0,1): l[0] = 1, want 2", or empty */
    char see[1024];       /* a command that shows the right numbers there; or empty */
};

struct grading {
    const struct lab *lab;
    struct variant variant;
    const struct built *built;
    struct process process;
    bool running;
    bool watched; /* what the emulator's detector reports makes a call fail */
    int restarts;
    double spent; /* seconds of processes that ended before their time */
    uint64_t random;
    uint32_t ticket;
    int current; /* property */
    struct finding results[MAX_PROPERTIES];
    char where[64]; /* "tile (0,1)", put before a sentence; or empty */
    char said[512]; /* the beginning of what it printed */
};

void grade_lab(const struct lab *lab, const struct built *b, const struct variant *v,
               struct grading *g);
int points_earned(const struct grading *g, bool hidden_too);

/* --- for check.c --- */

bool failed(const struct grading *g); /* the current property */
/* The first sentence of a property stays. */
void wrong(struct grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void at(struct grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What stands under "first difference" and "see it"; the first of a property stay. */
void differs(struct grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void see(struct grading *g, const char *command);

/* A state whose every float is the poison, and whose mask hides nothing. */
void fresh(struct state *s, int rows, int keys, int dim);
/* Has the student's function `step` called.  False: it is gone, or changed what it must not; the
   property has failed, with a sentence. */
bool call(struct grading *g, int step, struct state *s);

bool is_poison(float x);
/* got = want within a relative error of 2^-15 of the larger of |want| and `size`; NaN equals
   NaN. */
bool near(float got, double want, double size);
/* The same, failing with "NAME = got, want want". */
bool expect(struct grading *g, const char *name, float got, double want, double size);
struct name_text {
    char text[48];
};
struct name_text entry_name(const char *field, int r, int c); /* "O[0][1]"; c = -1: "l[0]" */

/* Numbers from the variant's secret seed. */
int draw_between(struct grading *g, int least, int most);
float draw(struct grading *g);                        /* about normal, at most 12 bits long */
void draw_inputs(struct grading *g, struct state *s); /* Q, K, V */
void draw_scores(struct grading *g, struct state *s); /* S, and V */

#endif
