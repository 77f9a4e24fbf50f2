/* build.c: a student's file made into a program: preprocessed, looked through, compiled, linked.

   What is compiled is the text that was looked through.  A file may include lab.h and the C
   library's headers; anything else, and inline assembly, which can read files at compile time, is
   refused. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700 /* nftw */
#include "lessons/build.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/tensor.h"
#include "simulator/data.h"
#include "simulator/scenario_parts.h"

enum { LARGEST_FILE = 1 << 20, LARGEST_TEXT = 64 << 20 };

const char *build_source(const struct built *b)
{
    return b->cuda ? "lab.cu" : "lab.c";
}

static bool write_in(const struct built *b, const char *name, const void *bytes, size_t size,
                     struct message *why)
{
    char path[320];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(bytes, 1, size, f) == size;
    if (f != NULL && fclose(f) != 0)
        ok = false;
    return ok || refuse(why, "%s: cannot be written", path);
}

/* A file that comes with the labs, copied to where they are built. */
static bool copy_shipped(const struct built *b, const char *name, struct message *why)
{
    unsigned char *bytes;
    size_t size;
    char *path = shipped_file(SHIPPED_LESSONS, name, why);
    bool ok = path != NULL && file_read(path, LARGEST_FILE, &bytes, &size, why);
    if (ok) {
        ok = write_in(b, name, bytes, size, why);
        free(bytes);
    }
    free(path);
    return ok;
}

static bool make_folder(struct built *b, struct message *why)
{
    int stranger = process_stranger_user();
    snprintf(b->folder, sizeof b->folder, "/tmp/flashulp-lab-XXXXXX");
    if (mkdtemp(b->folder) == NULL)
        return refuse(why, "%s: cannot be created", b->folder);
    if (geteuid() == 0 && chown(b->folder, (uid_t)stranger, (gid_t)stranger) != 0)
        return refuse(why, "%s: cannot be given to user %d", b->folder, stranger);
    return (!b->cuda || copy_shipped(b, "lab.cuh", why)) && copy_shipped(b, "lab.h", why) &&
           copy_shipped(b, "driver.h", why) && copy_shipped(b, "driver.c", why);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

void built_remove(struct built *b)
{
    if (b->folder[0] != 0)
        nftw(b->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    b->folder[0] = 0;
}

/* Runs the compiler in the folder; p holds what it said. */
static bool run_compiler(const struct built *b, const char *arguments, struct process *p,
                         struct message *why)
{
    struct limits limits = {.folder = b->folder,
                            .seconds = 10,
                            .memory = 2048ll << 20,
                            .file_bytes = LARGEST_TEXT,
                            .print_bytes = LARGEST_FILE,
                            .address_space = true,
                            .stranger = !b->cuda}; /* the emulator lies where only we may read */
    char *command = NULL;
    text_append(&command, "LC_ALL=C TMPDIR=. %s", arguments);
    char *argv[] = {"/bin/sh", "-c", command, NULL};
    bool started = process_start(p, &limits, argv, why);
    if (started)
        process_wait(p);
    free(command);
    if (started && p->ending == ENDING_EXIT && p->code == 127)
        return refuse(why, "no C compiler is called %s; sudo apt install gcc, or CC=clang",
                      getenv("CC") != NULL ? getenv("CC") : "cc");
    return started;
}

/* The compiler's first error, at the student's line; or the linker's, in the lab's words. */
static void first_error(const struct lab *lab, struct built *b, const struct process *p)
{
    const char *error = strstr(p->said, "error: "), *name;
    if ((name = strstr(p->said, "undefined reference to `")) != NULL) {
        struct quoted word = quoted(name + 24, strcspn(name + 24, "'"));
        build_refuse(
            b, "%s is used or asked for, and defined nowhere; the lab's functions are %s %s %s",
            word.text, lab->steps[0], lab->steps[1] != NULL ? lab->steps[1] : "",
            lab->steps[2] != NULL ? lab->steps[2] : "");
        return;
    }
    if ((name = strstr(p->said, "multiple definition of `")) != NULL) {
        struct quoted word = quoted(name + 24, strcspn(name + 24, "'"));
        build_refuse(b, "%s is the grader's own; a lab file does not define it", word.text);
        return;
    }
    if (p->ending != ENDING_EXIT || error == NULL) {
        build_refuse(b, "the compiler %s", process_ending(p).text);
        return;
    }
    const char *line = error;
    while (line > p->said && line[-1] != '\n')
        line--;
    const char *number = strstr(line, build_source(b));
    int said = (int)strcspn(error + 7, "\n");
    if (number != NULL && number < error)
        build_refuse(b, "line %d: %.*s", atoi(number + strlen(build_source(b)) + 1), said,
                     error + 7);
    else
        build_refuse(b, "the compiler says: %.*s", said, error + 7);
}

static bool read_preprocessed(struct built *b, struct message *why)
{
    char path[320];
    unsigned char *text;
    size_t size;
    snprintf(path, sizeof path, "%s/lab.i", b->folder);
    if (!file_read(path, LARGEST_TEXT, &text, &size, why))
        return false;
    if (strlen((char *)text) != size)
        build_refuse(b, "the file holds a zero byte; it is no C text");
    else
        build_inspect(b, (char *)text);
    free(text);
    return true;
}

static void append_steps(char **to, const struct lab *lab)
{
    text_append(to, " '-DSTEPS=");
    for (int i = 0; i < MAX_STEPS && lab->steps[i] != NULL; i++)
        text_append(to, "STEP(%s) ", lab->steps[i]);
    text_append(to, "'");
}

/* The folder above lessons/, where the emulator's headers are, and that of its library: beside the
   program where it is built, lib/ where it is installed. */
static bool emulator_places(char **root, char **library, struct message *why)
{
    static const char *const places[] = {"", "/../lib"};
    static const char header[] = "/gpu/emulator/prims_emu.h";
    char folder[4096], path[4200];
    *library = NULL;
    *root = shipped_file(SHIPPED_LESSONS, "../gpu/emulator/prims_emu.h", why);
    program_folder(folder);
    for (int i = 0; i < 2 && *library == NULL; i++) {
        snprintf(path, sizeof path, "%s%s/libemulator.a", folder, places[i]);
        if (access(path, R_OK) == 0)
            text_append(library, "%s%s", folder, places[i]);
    }
    if (*root != NULL && *library != NULL) {
        (*root)[strlen(*root) - strlen(header)] = 0;
        return true;
    }
    free(*root);
    free(*library);
    return refuse(why,
                  "labs in CUDA need the emulator, libemulator.a and its headers: make builds them "
                  "where a C++ compiler is, make install takes them along");
}

/* Preprocesses the student's file and reads what came out; what it must not have is the sentence. */
static bool preprocess(struct built *b, const char *command, struct process *p, struct message *why)
{
    bool ok = run_compiler(b, command, p, why);
    if (ok && p->ending == ENDING_EXIT && p->code == 0)
        ok = read_preprocessed(b, why) || b->sentence[0] != 0;
    return ok;
}

static bool compile_cuda(const struct lab *lab, struct built *b, struct process *p,
                         struct message *why)
{
    static const char flags[] = "-std=c++17 -O1 -g -ffp-contract=off -fno-exceptions -fno-rtti "
                                "-fsanitize=thread -fno-pie";
    char *root, *library, *command = NULL;
    if (!emulator_places(&root, &library, why))
        return false;
    text_append(&command,
                "${CXX:-c++} -x c++ %s -DFLASHULP_EMULATED -DFLASHULP_CHECKED -I. -I'%s' -E lab.cu "
                "-o lab.i",
                flags, root);
    bool ok = preprocess(b, command, p, why);
    free(command);
    command = NULL;
    if (ok && b->ok && p->ending == ENDING_EXIT && p->code == 0) {
        text_append(&command,
                    "${CXX:-c++} %s -c -x c++-cpp-output lab.i -o lab.o && ${CC:-cc} "
                    "-std=gnu11 -O1 -g -no-pie -fno-pie -DEMULATED -I. -I'%s' driver.c "
                    "lab.o '%s/libemulator.a' '%s/libflashulp.a' -lmpfr -lgmp -lcjson "
                    "-lm -pthread -o lab",
                    flags, root, library, library);
        append_steps(&command, lab);
        ok = run_compiler(b, command, p, why);
    }
    free(command);
    free(root);
    free(library);
    return ok;
}

static bool compile_c(const struct lab *lab, struct built *b, struct process *p,
                      struct message *why)
{
    static const char cc[] = "${CC:-cc} -std=gnu11";
    char *command = NULL;
    text_append(&command, "%s -E lab.c -o lab.i", cc);
    bool ok = preprocess(b, command, p, why);
    free(command);
    command = NULL;
    if (ok && b->ok && p->ending == ENDING_EXIT && p->code == 0) {
        text_append(&command,
                    "%s -O1 -g -fno-pie -no-pie -ffp-contract=off "
                    "-Werror=implicit-function-declaration -x cpp-output lab.i -x c driver.c",
                    cc);
        append_steps(&command, lab);
        text_append(&command, " -lm -o lab");
        ok = run_compiler(b, command, p, why);
    }
    free(command);
    return ok;
}

static bool compile(const struct lab *lab, struct built *b, struct message *why)
{
    struct process p;
    if (!(b->cuda ? compile_cuda : compile_c)(lab, b, &p, why))
        return false;
    if (b->ok && (p.ending != ENDING_EXIT || p.code != 0))
        first_error(lab, b, &p);
    return true;
}

/* The student's text; in CUDA also what launches each kernel, behind it. */
static bool write_source(const struct lab *lab, int threads, const struct built *b,
                         const unsigned char *text, size_t size, struct message *why)
{
    char *launches = NULL;
    if (!b->cuda)
        return write_in(b, build_source(b), text, size, why);
    if (strstr((const char *)text, "emulator_") != NULL)
        return write_in(b, build_source(b), "#error emulator_ names are the grader's", 39, why);
    text_append(&launches, "%.*s\n", (int)size, (const char *)text);
    for (int i = 0; i < MAX_STEPS && lab->steps[i] != NULL; i++)
        text_append(&launches,
                    "extern \"C\" void launch_%s(struct state *s) { LAUNCH(%s, s->rows, "
                    "%d, 0, s); }\n",
                    lab->steps[i], lab->steps[i], threads);
    bool ok = write_in(b, build_source(b), launches, strlen(launches), why);
    free(launches);
    return ok;
}

bool build_lab(const struct lab *lab, const struct variant *v, const char *path, struct built *b,
               struct message *why)
{
    unsigned char *text;
    size_t size;
    *b = (struct built){.ok = true, .cuda = lab->cuda};
    if (!file_read(path, LARGEST_FILE, &text, &size, why))
        return false;
    bool ok = make_folder(b, why) && write_source(lab, v->shape, b, text, size, why) &&
              compile(lab, b, why);
    free(text);
    if (!ok)
        built_remove(b);
    return ok;
}
