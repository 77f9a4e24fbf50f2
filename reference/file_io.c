/* file_io.c: files read by offset and written whole or not at all.

   Only regular files are read: a pipe would block, a directory has no bytes, and a huge file of
   holes gives zeros for hours.  An output goes to PATH.PID-N.tmp in the same folder, is flushed to
   the disk and then renamed over PATH.  The names of temporaries are kept where a signal handler
   may read them. */
#include "reference/tensor_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of_file(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static bool refuse_open(struct message *why, const char *path, int error)
{
    struct stat info;
    if (error == ENOENT && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return refuse(why, "%s: a symbolic link to a file that is not there", path);
    if (error == ENOENT)
        return refuse(why, "%s: no such file", path);
    if (error == ELOOP)
        return refuse(why, "%s: symbolic links that lead to no file", path);
    if (error == ENXIO)
        return refuse(why, "%s: a socket, not a regular file", path);
    return refuse(why, "%s: cannot be opened: %s", path, strerror(error));
}

/* Is nearly all of a large file holes?  A file system that does not count blocks says 0. */
static bool is_hollow(const struct stat *info)
{
    const uint64_t large = UINT64_C(4) << 30, size = (uint64_t)info->st_size;
    return size >= large && info->st_blocks > 0 && (uint64_t)info->st_blocks * 512 < size / 1024;
}

bool source_open(struct source *s, const char *path, struct message *why)
{
    struct stat info;
    *s = (struct source){-1, path, 0};
    /* O_NONBLOCK: opening a pipe must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return refuse_open(why, path, errno);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return refuse(why, "%s: %s, not a regular file", path, kind_of_file(info.st_mode));
    }
    if (is_hollow(&info)) {
        close(fd);
        return refuse(why,
                      "%s: a sparse file of %.1f GiB, nearly all of it holes; cp --sparse=never "
                      "fills them",
                      path, (double)info.st_size / (1 << 30));
    }
    s->fd = fd;
    s->size = (uint64_t)info.st_size;
    return true;
}

bool source_read(const struct source *s, uint64_t offset, void *to, uint64_t count,
                 struct message *why)
{
    if (offset > s->size || count > s->size - offset)
        return refuse(why, "%s: cut short: %llu bytes wanted at %llu, the file has %llu", s->path,
                      (unsigned long long)count, (unsigned long long)offset,
                      (unsigned long long)s->size);
    enum { PIECE = 1 << 30 };
    for (uint64_t done = 0; done < count;) {
        uint64_t left = count - done;
        ssize_t got = pread(s->fd, (char *)to + done, left < PIECE ? (size_t)left : PIECE,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(why, "%s: cannot be read: %s", s->path, strerror(errno));
        if (got == 0)
            return refuse(why, "%s: became shorter while it was read", s->path);
        done += (uint64_t)got;
    }
    return true;
}

void source_close(struct source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

bool file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size,
               struct message *why)
{
    struct source s;
    *bytes = NULL;
    *size = 0;
    if (!source_open(&s, path, why))
        return false;
    bool ok = s.size <= limit;
    if (!ok)
        refuse(why, "%s: %llu bytes; at most %zu are read", path, (unsigned long long)s.size,
               limit);
    ok = ok && memory_holds(path, s.size, why);
    if (ok) {
        *bytes = malloc((size_t)s.size + 1);
        ok = *bytes != NULL
                 ? source_read(&s, 0, *bytes, s.size, why)
                 : refuse(why, "%s: no memory for %llu bytes", path, (unsigned long long)s.size);
    }
    source_close(&s);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
        return false;
    }
    (*bytes)[s.size] = 0;
    *size = (size_t)s.size;
    return true;
}

bool file_read_head(const char *path, void *to, size_t room, size_t *got, struct message *why)
{
    struct source s;
    if (!source_open(&s, path, why))
        return false;
    *got = s.size < room ? (size_t)s.size : room;
    bool ok = source_read(&s, 0, to, *got, why);
    source_close(&s);
    return ok;
}

/* More outputs than these at one time are only less tidy when a signal ends the program. */
static _Atomic(char *) unfinished[32];
enum { UNFINISHED = sizeof unfinished / sizeof unfinished[0] };

static void put_in_place_of(char *old, char *new)
{
    for (int i = 0; i < UNFINISHED; i++) {
        char *expected = old;
        if (atomic_compare_exchange_strong(&unfinished[i], &expected, new))
            return;
    }
}

void files_unlink_unfinished(void)
{
    for (int i = 0; i < UNFINISHED; i++) {
        const char *temporary = atomic_load(&unfinished[i]);
        if (temporary != NULL)
            unlink(temporary);
    }
}

/* Made and remembered at once, as far as this thread's signals can tell: one that came between the
   two would leave the file. */
static int create_remembered(char *path)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = errno;
    if (fd >= 0)
        put_in_place_of(NULL, path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

/* Opens PATH.PID-N.tmp for the first N that is free. */
static int open_temporary(struct output_file *f)
{
    size_t room = strlen(f->path) + 48;
    f->temporary = malloc(room);
    if (f->temporary == NULL)
        return -1;
    for (int n = 0; n < 1000; n++) {
        snprintf(f->temporary, room, "%s.%ld-%d.tmp", f->path, (long)getpid(), n);
        int fd = create_remembered(f->temporary);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static void forget(struct output_file *f)
{
    if (f->temporary != NULL)
        put_in_place_of(f->temporary, NULL);
    free(f->path);
    free(f->temporary);
    *f = (struct output_file){0};
}

bool file_begin(struct output_file *f, const char *path, bool force, struct message *why)
{
    struct stat info;
    *f = (struct output_file){0};
    /* Renaming over a device or a pipe would replace it by a file: never, whatever `force` says. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return refuse(why, "%s: %s, not a regular file; name a new file", path,
                      kind_of_file(info.st_mode));
    if (!force && lstat(path, &info) == 0)
        return refuse(why, "%s exists; give --force to replace it", path);
    f->path = strdup(path);
    int fd = f->path != NULL ? open_temporary(f) : -1;
    if (fd >= 0 && (f->stream = fdopen(fd, "wb")) != NULL)
        return true;
    refuse(why, "%s: cannot be created: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(f->temporary);
    }
    forget(f);
    return false;
}

void file_abandon(struct output_file *f)
{
    if (f->stream == NULL)
        return;
    fclose(f->stream);
    unlink(f->temporary);
    forget(f);
}

/* Why an earlier write failed, whose errno is gone: the same failure, met once more. */
static int failure_of(FILE *stream)
{
    static const char page[4096];
    ssize_t written = write(fileno(stream), page, sizeof page);
    if (written >= 0 && written < (ssize_t)sizeof page)
        written = write(fileno(stream), page, sizeof page);
    return written < 0 ? errno : EIO;
}

bool file_commit(struct output_file *f, struct message *why)
{
    assert(f->stream != NULL);
    bool ok = fflush(f->stream) == 0;
    int error = errno;
    if (ok && ferror(f->stream)) {
        ok = false;
        error = failure_of(f->stream);
    }
    /* Some file systems cannot sync and say EINVAL; that is no lost write. */
    if (ok && fsync(fileno(f->stream)) != 0 && errno != EINVAL) {
        ok = false;
        error = errno;
    }
    if (fclose(f->stream) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && rename(f->temporary, f->path) != 0) {
        ok = false;
        error = errno;
    }
    if (!ok) {
        unlink(f->temporary);
        refuse(why, "%s: cannot be written: %s; nothing was kept", f->path, strerror(error));
    }
    forget(f);
    return ok;
}
