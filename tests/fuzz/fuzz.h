/* fuzz.h: what the fuzz targets share.

   A target takes any bytes at all, gives them to one reader and requires of the answer what holds
   for all: a refusal is one sentence; what is accepted can be touched, written and read again, and
   then is the same.  entry.c makes a libFuzzer program of a target; tests/test_readers.c runs all
   of them over the seeds and over every input that once found something. */
#ifndef FLASHULP_TESTS_FUZZ_H
#define FLASHULP_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/message.h"

typedef void fuzz_target(const uint8_t *data, size_t size);
fuzz_target fuzz_trace, fuzz_npy, fuzz_npz, fuzz_safetensors, fuzz_device, fuzz_lengths;

/* Ends the program, naming what does not hold, and of which input if it was named. */
void fuzz_require(bool holds, const char *what);
void fuzz_name_input(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line of printable characters. */
void fuzz_require_sentence(const struct message *why);
/* The bytes as a file, one at a time; its path.  The others are free for what is written. */
const char *fuzz_file(const uint8_t *data, size_t size);
const char *fuzz_output(void);
void *fuzz_allocate(size_t bytes);

/* What all readers of tensor files owe each other, for a file of any kind. */
void fuzz_tensor_file(const uint8_t *data, size_t size);

#endif
