/* arith.h: tiles, verbs and calls: the language in which every algorithm and kernel is written.

   A verb call is a value, `struct call`.  An arithmetic (float, double, mpfr) is a table of bodies,
   one per verb; a run says which arithmetic performs the calls, under which policy, and what walks
   beside it (an exact twin, a ledger, a trace).  Recording, replaying and explaining are functions
   over calls and change no algorithm.

   Rules: each call rounds once, to its site's format; a call with two roundings names two sites.
   Tiles are row-major without padding.  A row's visible interval [lo, hi) is set by `mask`; outside
   it an element counts as +0 in sums and is passed over in maxima, and positions never move. */
#ifndef FLASHULP_ARITH_H
#define FLASHULP_ARITH_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/problem.h"
#include "simulator/policy.h"

enum verb {
#define VERB(id, name, meaning) VERB_##id,
#include "simulator/verbs.def"
#undef VERB
    VERB_COUNT
};

enum tensor_name {
#define TENSOR(id, symbol, meaning) TENSOR_##id,
#include "simulator/tensors.def"
#undef TENSOR
    TENSOR_COUNT
};

enum step {
#define STEP(id, ...) STEP_##id,
#include "simulator/steps.def"
#undef STEP
    STEP_COUNT
};

struct tile {
    int rows, cols;
    bool masked;       /* lo, hi hold; otherwise every column is visible */
    int *lo, *hi;      /* one per row */
    void *data;        /* rows * cols elements of the arithmetic's type */
    enum tensor_name name;
    struct tile *twin; /* watched runs: the same tile in the exact twin's arithmetic */
    enum site wrote;   /* where its values were last rounded; SITE_NONE: nowhere yet */
    double *local;     /* watched runs: what the last verb's rounding added, per element */
    bool changed;      /* watched runs: some bit differs from what was noted last */
};

/* A real number: factor / sqrt(root), times log2(e) or ln 2. */
struct real {
    double factor;
    int64_t root;
    enum { REAL_PLAIN, REAL_TIMES_LOG2E, REAL_TIMES_LN2 } times;
};

/* As a double: nearest, or to odd (what a later rounding to a narrower format needs). */
double real_value(const struct real *real, bool odd);

/* Where tile row 0, column 0 lie in the head's rows and keys: the mask in the tile's coordinates.
   Of the tile's `cols` columns the first `count` hold keys; the rest are empty places. */
struct visible {
    const struct head *head;
    int64_t row0, col0;
    int cols, count;
};
/* The columns of [col0, col0 + count) that row row0 + r sees, as [lo, hi) relative to col0; lo = hi
   when none.  By intervals, not pair by pair: the reference's sees() is the other way to say it. */
void visible_interval(const struct visible *v, int r, int *lo, int *hi);
/* Does any of rows row0 .. row0 + rows - 1 see any column? */
bool visible_any(const struct visible *v, int rows);

/* Rows of a tensor to be loaded: [batch, head, row0 + r, 0..cols), `count` of them; zeros after. */
struct source {
    const struct tensor *tensor;
    int64_t batch, head, row0, count;
};

struct call {
    enum verb verb;
    struct tile *dst;
    const struct tile *a, *b, *c;
    enum site arg_site, site; /* arg_site: EXP_SHIFT's difference, MMA_AB's product */
    const struct visible *visible;
    struct source source;
    struct real real;
    int row, col; /* PUT, TAKE: where the block begins */
};

struct run;
typedef void verb_body(const struct run *r, const struct call *c);

/* An arithmetic.  `element_new` prepares count elements (value +0) and returns them. */
struct arithmetic {
    const char *name;
    verb_body *body[VERB_COUNT]; /* ROWS_EQUAL has none: rows_equal below */
    void *(*element_new)(const struct run *r, size_t count);
    void (*element_free)(void *data, size_t count);
    double (*get)(const void *data, size_t i);  /* nearest double */
    void (*get_wide)(const void *data, size_t i, double wide[2]); /* to about 2^-106 */
    void (*set)(void *data, size_t i, double x); /* exactly; x fits the element */
    void (*add)(void *data, size_t i, double x); /* adds x, at the element's own precision */
    void (*move)(void *dst, size_t i, const void *src, size_t j); /* one element, unchanged */
    bool (*same)(const void *a, size_t i, const void *b, size_t j); /* equal as numbers */
    void (*thread_done)(void); /* frees what the thread that ends keeps for itself; or NULL */
};
extern const struct arithmetic arith_double, arith_mpfr;
const struct arithmetic *arith_float(void); /* the best level this processor has: same bits */
const char *arith_mpfr_version(void); /* the MPFR that is linked: "4.2.0" */
const struct arithmetic *arithmetic_named(const char *name, struct message *why);

/* Where in the computation a call stands: what events carry. */
struct where {
    uint32_t batch, head, block, warp, sm, split, i, j;
};

struct watch;
struct ledger;
struct trace;

struct run {
    const struct arithmetic *arith;
    const struct policy *policy;
    int precision; /* of exact sites in mpfr, bits */
    void (*perform)(struct run *r, const struct call *c);
    struct watch *watch;   /* an exact twin and what is compared with it (watch.h), or NULL */
    struct ledger *ledger; /* errors being recorded or replayed (ledger.h), or NULL */
    struct trace *trace;   /* NULL: nothing is noted */
    unsigned alterations; /* of its calls: bit 1 << ALTERATION_x (alter.h) */
    struct where where;
    const struct tile *anchor; /* the running maximum that l, O~ and P are relative to, or NULL */
    double anchor_unit;        /* 1: powers of e; ln 2: powers of 2 */
    struct tile **tiles; /* everything tile_new gave, freed by run_reset */
    int tile_count, tile_room;
    void *scratch; /* of the bodies */
    size_t scratch_bytes;
};

/* A run in one arithmetic.  Refused when the policy does not fit: float has no exact or fp64 sites;
   the exact policy needs double or mpfr. */
bool run_new(struct run *r, const struct arithmetic *arith, const struct policy *policy,
             int precision, struct message *why);
void run_reset(struct run *r); /* frees the tiles */
void run_free(struct run *r);
/* The policy's arithmetic, performed: no twin, no ledger. */
void perform_plain(struct run *r, const struct call *c);

/* A tile of +0, owned by the run. */
struct tile *tile_new(struct run *r, enum tensor_name name, int rows, int cols);
double tile_get(const struct run *r, const struct tile *t, int row, int col);
void *run_scratch(const struct run *r, size_t bytes); /* valid until the next call of it */

/* The verbs: destination first.  verbs.def says what each does. */
void load(struct run *r, struct tile *dst, struct source source);
void copy(struct run *r, struct tile *dst, const struct tile *a);
/* Records of groups: dst's block at (row, col) becomes a; dst becomes a's block at (row, col). */
void put_block(struct run *r, struct tile *dst, int row, int col, const struct tile *a);
void take_block(struct run *r, struct tile *dst, const struct tile *a, int row, int col);
void fill(struct run *r, struct tile *dst, double value); /* 0, -inf: no rounding */
void constant(struct run *r, struct tile *dst, struct real real);
/* dst = a x, x as a double and the product taken in double before it is rounded at CONST: the two
   roundings of `float * double` on a host.  Exact sites: the real product. */
void times_real(struct run *r, struct tile *dst, const struct tile *a, struct real x);
void round_at(struct run *r, struct tile *dst, enum site site);
void mma_abt(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site site);
void mma_ab(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
            enum site product, enum site site);
void mma_atb(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site product, enum site site);
void add(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s);
void sub(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s);
void mul(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s);
void div_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s);
void fma_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
          const struct tile *c, enum site s);
void rcp(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void max_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b);
void exp_shift(struct run *r, struct tile *dst, const struct tile *a, const struct tile *m,
               enum site arg, enum site site);
void exp_(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void exp2_(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void log_(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void log2_(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void tanh_(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void row_max(struct run *r, struct tile *dst, const struct tile *a);
void row_sum(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void row_sum_rescaled(struct run *r, struct tile *dst, const struct tile *a,
                      const struct tile *decay, enum site s);
void row_dot(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site s);
void fold(struct run *r, struct tile *dst, const struct tile *a, enum site s);
void mask(struct run *r, struct tile *dst, const struct visible *visible);
void mask_fill(struct run *r, struct tile *dst, const struct visible *visible, double value);
void divide_rows(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
                 const struct visible *seen, enum site s);
void safe_shift(struct run *r, struct tile *dst, const struct tile *a);
void select_bad(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
                const struct tile *otherwise);
/* The one decision algorithms may take on data; recorded and replayed. */
bool rows_equal(struct run *r, const struct tile *a, const struct tile *b);

/* The tile's values are what a reader of the listing sees at `step`.  Costs one test when no trace
   is kept. */
void note_tile(struct run *r, enum step step, const struct tile *t);
static inline void note(struct run *r, enum step step, const struct tile *t)
{
    if (r->trace != NULL)
        note_tile(r, step, t);
}
/* From here on P, l and O~ are relative to e^(unit m); NULL: to nothing. */
static inline void anchor(struct run *r, const struct tile *m, double unit)
{
    r->anchor = m;
    r->anchor_unit = unit;
}

#endif
