/* message.h: how a user's mistake is reported.  Valid C++17.

   A function that can be refused takes a `struct message *why` and returns false after writing one
   sentence there: what is wrong, where, what would be right.  The programmer's mistakes are asserts. */
#ifndef FLASHULP_MESSAGE_H
#define FLASHULP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct message {
    char text[640];
};

/* Writes the sentence (cut at the buffer's end) and returns false: `return refuse(why, "...")`. */
bool refuse(struct message *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text from a file made fit for a message: at most 60 characters, unprintable ones as '?'. */
struct quoted {
    char text[64];
};
struct quoted quoted(const char *text, size_t length);

/* Bytes of the well-formed UTF-8 character at s, or 0. */
int utf8_length(const char *s);

/* The name in names[0..count) nearest to `word` by edit distance, or NULL when none is near
   (more than a third of the letters differ): for "did you mean". */
const char *nearest_name(const char *word, const char *const *names, int count);

#ifdef __cplusplus
}
#endif

#endif
