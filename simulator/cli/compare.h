/* compare.h: what the files of `flashulp compare` share. */
#ifndef FLASHULP_CLI_COMPARE_H
#define FLASHULP_CLI_COMPARE_H

#include <stdio.h>

#include "reference/compare.h"
#include "reference/logits.h"
#include "reference/tensor_hash.h"
#include "simulator/report.h"

enum { COMPARE_FIRST = 4, COMPARE_MOST_LISTED = 100000 };

/* The whole command: its options, and what came of the pairs so far. */
struct compare_job {
    const struct scenario *scenario;
    struct report *report;
    enum format words;
    bool all, tolerant, bnhd, same_file;
    double atol, rtol;
    int64_t ulp;    /* -1: not asked for */
    FILE *table;    /* rows of the .csv, copied to the report at the end */
    int64_t listed; /* differences written out */
    struct json *files;
    struct hashing *hashing; /* of the pair at hand */
    char *file; /* of folders: the file at hand, fit for a terminal; else NULL */
    char *text;                       /* of the report, behind its files' headers */
    int64_t tensors, failed, missing; /* compared, not equal or not within, in one file only */
    int64_t elements, differ, of_kind, zero_signs, outside, max_steps;
    double sum_steps, least_atol, least_rtol;
    int64_t not_rounded; /* elements of WANT that are not the rounding of the exact value */
};

/* One pair of tensors. */
struct compare_pair {
    const char *name;                      /* "" in a .npy */
    char label[64];                        /* it, fit for a terminal */
    struct tensor_stream got, want, exact; /* exact.file NULL: none */
    int64_t rounded[2];                    /* values changed on the way into the common format */
    bool logits;
    struct comparison c;
    struct logits l;
    FILE *list; /* the differences, as text */
    struct json *differences;
    struct compare_job *job;
};

/* Opens the files, compares tensor by tensor and adds to the report; `exact` may be NULL. */
bool compare_files(struct compare_job *job, const char *got, const char *want, const char *exact,
                   struct message *why);
/* The files of the same relative path in the two folders and those below them; what only one has is
   said. */
bool compare_folders(struct compare_job *job, struct message *why);
/* May a further pair be compared, or has a difference been found and --all not been given? */
bool compare_goes_on(const struct compare_job *job);
bool compare_passes(const struct compare_job *job, const struct comparison *c);

/* The open streams of a pair, measured and added to the job's text and to `to`. */
bool compare_measure(struct compare_pair *p, struct json *to, struct message *why);
/* A difference, written to the list, the table and the JSON of the struct compare_pair `context`. */
void compare_list(void *context, const struct difference *d);
/* The finished pair as lines of the report, and as JSON. */
void compare_say(struct compare_pair *p);
void compare_json(struct compare_pair *p, struct json *to);

/* The finished pair on the page: its lines, and its figures. */
void compare_page_pair(const struct compare_pair *p, const char *lines);
/* The page's headline, differences and footer; `table` as of the .csv. */
void compare_page_end(struct compare_job *job, const char *verdict, const char *table);
/* A path fit for a terminal: control characters as '?'; malloc'ed. */
char *compare_printable(const char *path);

/* "[0,0,0,17]" */
struct index_text {
    char text[96];
};
struct index_text index_text(int rank, const int64_t *shape, int64_t index);
/* "1,16,1,256 bf16" */
struct index_text shape_and_dtype(const struct tensor_stream *s);
/* x, at most a little larger, in few digits: as a tolerance it lets pass what x does. */
struct number_text tolerance_text(double x);

#endif
