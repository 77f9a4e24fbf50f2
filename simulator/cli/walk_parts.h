/* walk_parts.h: what the files of `flashulp walk` share: the parts of its page, as report text. */
#ifndef FLASHULP_CLI_WALK_PARTS_H
#define FLASHULP_CLI_WALK_PARTS_H

#include "simulator/walk.h"

/* "fa2-4   FlashAttention-2 on 4 scores ...", inputs, policy, which row, remarks. */
void show_header(struct report *r, const struct walk *w);
/* "--- tile 1 of 2    x = 1 2    v = 10 20 -----": 80 columns. */
void show_tile(struct report *r, const struct walk *w, int tile);
/* Words in a line of dashes. */
void show_rule(struct report *r, const char *words);
void show_columns(struct report *r, const struct walk *w);
/* One step's lines; `changed`: only those that differ from policy fp32's. */
void show_step(struct report *r, const struct walk *w, const struct walk_step *step, bool changed);
/* All steps with the tiles' rules; where there are many tiles, the first and the last of them. */
void show_steps(struct report *r, const struct walk *w);
/* decode over many tiles: only what groups leave, and the merge. */
void show_groups(struct report *r, const struct walk *w);
void show_changed_steps(struct report *r, const struct walk *w);

/* The answer against the certified result. */
void show_answer(struct report *r, const struct walk *w);
/* "drift in ulps of bf16. 24.875 is the bf16 number nearest ...": after --changed. */
void show_changed_answer(struct report *r, const struct walk *w);
/* What L gives back, how often was divided, names. */
void show_meaning(struct report *r, const struct walk *w, const struct scenario *s);
/* The same of a backward walk. */
void show_backward_answer(struct report *r, const struct walk *w);
void show_backward_meaning(struct report *r, const struct walk *w);
/* splitk, splitq: what the warps of the block exchange, call by call. */
void show_warps(struct report *r, const struct walk *w);
/* Commands that go on from here. */
void show_next(struct report *r, const struct walk *w, const struct scenario *s);

/* One step in full: numbers put into the equation, bits, whose the drift is. */
void show_detail(struct report *r, const struct walk *w, const struct walk_step *step);
/* The terms of the step's first sum as a picture; refused where it is no sum of products. */
bool draw_step(struct report *r, const struct walk *w, const struct walk_step *step,
               struct message *why);
/* Two walks side by side. */
void show_beside(struct report *r, const struct walk *left, const struct walk *right);
/* steps[] for JSON and the rows of a .csv, where one is wanted. */
void list_steps(struct report *r, const struct walk *w, bool changed);

/* On a terminal: by key; by question.  They return when the reader leaves. */
bool play_steps(const struct walk *w, const struct scenario *s, struct message *why);
bool play_quiz(const struct walk *w, const struct scenario *s, struct message *why);

/* Breaks the words into lines of the page, the later ones indented; frees them. */
void show_words(struct report *r, int indent, char *words);
/* The number of the output in words: "float", "bf16 number". */
const char *format_noun(enum format f);
/* "no", "one", ... "twelve", then digits; valid until the next call. */
const char *number_word(int n);
/* The format that holds a line's value: its site's, or the narrowest of fp32 and fp64 that does. */
enum format value_format(const struct walk *w, size_t event, double value);

#endif
