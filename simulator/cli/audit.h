/* audit.h (cli): what the files of `flashulp audit` share. */
#ifndef FLASHULP_CLI_AUDIT_H
#define FLASHULP_CLI_AUDIT_H

#include "simulator/audit.h"
#include "simulator/identify.h"
#include "simulator/report.h"

enum { AUDIT_COLUMNS = 4 }; /* runs side by side in 80 columns */

/* What --identify and --explain found; all zero: neither was asked for. */
struct findings {
    struct identify_space *space;
    bool asked[AUDIT_MOST_RUNS], measured[AUDIT_MOST_RUNS], explains;
    struct identification found[AUDIT_MOST_RUNS]; /* of those asked for */
    struct explanation explanation;
};
/* Of a judged audit, as the options say. */
bool audit_find(struct audit *a, struct findings *f, audit_progress *progress, struct message *why);
void findings_free(struct findings *f);
/* Is every output asked about known and legal, and the pair told apart by nothing worse? */
bool findings_good(const struct findings *f);
void audit_say_findings(struct report *r, const struct audit *a, const struct findings *f);
void audit_json_identified(struct json *run, const struct identification *found);
void audit_json_explained(struct report *r, const struct audit *a, const struct findings *f);

/* The report's text, JSON and page of a judged and attributed audit. */
void audit_say(struct report *r, const struct audit *a, const struct audit_map *m,
               const struct findings *f);
void audit_json(struct report *r, const struct audit *a, const struct findings *f);
/* After the text and the JSON: the page, and what of its figures is the picture. */
void audit_page(struct report *r, const struct audit *a, const struct audit_map *m);
/* Every model beside the first one. */
void audit_say_divergence(struct report *r, const struct audit *a);
void audit_say_map(struct report *r, const struct audit *a, const struct audit_map *m);
void audit_map_json(struct report *r, const struct audit *a, const struct audit_map *m);
bool audit_map_page(struct page *page, const struct audit *a, const struct audit_map *m);
/* Figures of the page, and of the picture. */
void audit_draw_errors(struct page *page, const struct audit *a);
void audit_draw_sites(struct page *page, const struct audit *a);

/* Does a site move some of these models by a thousandth of an ulp?  (PROB always counts.) */
bool audit_stands_out(const struct audit *a, const int *which, int count, int site);
/* Of the first output: where its rounding happens: the boundary that some run crossed, or the
   nearest; `at` NaN: there is none. */
struct boundary audit_boundary(const struct audit *a);

/* The parts of the text that the page shows too. */
void audit_say_line(char **text, const struct audit *a);  /* one output: the numbers on a line */
void audit_say_sites(char **text, const struct audit *a); /* which rounding moved it */
void audit_say_flips(char **text,
                     const struct audit *a); /* the outputs not correctly rounded, in words */
void audit_verdict_words(char **text, const struct audit *a);

/* Measured logarithms of the sums. */
void audit_say_lse(struct report *r, const struct audit *a);
void audit_json_lse(struct json *to, const struct audit *a, const struct audit_lse *l);

/* A mark for run n on the line: a letter of its name that no other run has. */
char audit_mark(const struct audit *a, int n);
/* The place among `names` of what stands for run n in a heading of `width` columns. */
struct audit_label {
    char text[32];
};
struct audit_label audit_label(const struct audit *a, int n, int width);

/* "54 x 512", or the listing's or kernel's own name. */
struct audit_label audit_label_groups(const struct audit_run *run);

#endif
