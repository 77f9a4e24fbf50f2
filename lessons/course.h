/* course.h: a course's settings (course.ini) and what they make of one student's copy of a lab. */
#ifndef FLASHULP_LESSONS_COURSE_H
#define FLASHULP_LESSONS_COURSE_H

#include "lessons/result.h"

/* NAME = VALUE lines, # begins a comment:
     secret = any text             keys the variants and the drawn numbers; needed for variants
     feedback = cause              cause, property or none: how much a student is told
     hidden = later                when hidden properties are shown: now; later, when the course
                                   publishes grades; due, after Gradescope's due date
     labs = 02 03 07               which labs `make course` takes (all)
     roster = students.txt         whose copies it makes: one name a line
     points.07 = 2,3,1,1,1,1,1,2   other points for a lab's properties, in their order
     seconds = 1                   that a lab file's process may run
     memory = 256                  MiB it may hold
     output = 1000                 kB it may print
     seconds.20 = 2                the same of one lab; likewise memory.NN and output.NN */
enum { MAX_LABS = 32 };
struct course {
    char name[80], secret[128], labs[128];
    enum feedback feedback;
    bool show_hidden, due;
    bool variants;                        /* a secret was given */
    int points[MAX_LABS][MAX_PROPERTIES]; /* by lab's place; -1: the lab's own */
    struct allowance all, own[MAX_LABS];  /* of every lab, of one by its place; 0: not set */
};
void course_defaults(struct course *c);
bool course_read(const char *path, struct course *c, struct message *why);

/* HMAC-SHA-256 (RFC 2104) of a text under a key. */
void hmac_sha256(const char *key, const char *text, unsigned char digest[32]);

/* What this student's copy asks for: fixed by secret, lab and student.  Without a secret:
   nobody's. */
struct variant course_variant(const struct course *c, const struct lab *lab, const char *student);

/* The lab with the course's points and limits. */
struct lab course_lab(const struct course *c, const struct lab *lab);

/* The text of lab.c with $VARIANT$ replaced by what this copy asks for; malloc'ed. */
char *course_stub(const char *text, const struct lab *lab, const struct variant *v);

/* Grades one file.  False: the grader is at fault, with a sentence. */
bool course_grade(const struct course *c, const struct lab *lab, const char *path,
                  const char *student, struct graded *x, struct message *why);

#endif
