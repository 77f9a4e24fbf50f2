/* async.c: cp.async: 16 bytes from global to shared memory, done some time before the wait returns.

   Late copies happen inside the wait that must see them done, and until then the destination is
   NaNs: the worst that the rules allow. */
#include "gpu/emulator/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/detector.h"

static void perform(const struct pending_copy *c)
{
    memcpy(c->dst, c->src, (size_t)c->bytes);
    memset(c->dst + c->bytes, 0, (size_t)(16 - c->bytes));
}

static bool copy_fits(const struct lane *l, const void *dst, const void *src, int bytes,
                      struct cuemu_site at)
{
    size_t offset;
    enum space to = space_of(dst, 16, &offset);
    if (to != SPACE_SHARED && to != SPACE_STATIC_SHARED)
        report(FAULT_OUT_OF_BOUNDS, at, nowhere,
               "cp.async: the destination of %s is not shared memory", name_of(l).text);
    else if ((uintptr_t)dst % 16 != 0)
        report(FAULT_MISALIGNED, at, nowhere,
               "cp.async: the destination of %s is shared +0x%zx; it must be a multiple of 16",
               name_of(l).text, offset);
    else if (bytes < 0 || bytes > 16)
        report(FAULT_OUT_OF_BOUNDS, at, nowhere,
               "cp.async: %d source bytes by %s; 0 to 16 are allowed", bytes, name_of(l).text);
    else if (bytes > 0 && space_of(src, (size_t)bytes, &offset) != SPACE_GLOBAL)
        report(FAULT_OUT_OF_BOUNDS, at, nowhere,
               "cp.async: the source of %s is not memory that dev_alloc gave", name_of(l).text);
    else if (bytes > 0 && (uintptr_t)src % 16 != 0)
        report(FAULT_MISALIGNED, at, nowhere,
               "cp.async: the source of %s is global +0x%zx; it must be a multiple of 16",
               name_of(l).text, offset);
    else
        return true;
    return false;
}

static struct pending_copy *append(struct lane *l)
{
    if (l->first + l->copies == l->room && l->first > 0) {
        memmove(l->copy, l->copy + l->first, (size_t)l->copies * sizeof *l->copy);
        l->first = 0;
    }
    if (l->copies == l->room) {
        int room = l->room == 0 ? 32 : 2 * l->room;
        struct pending_copy *copy = realloc(l->copy, (size_t)room * sizeof *copy);
        if (copy == NULL)
            abort();
        l->copy = copy;
        l->room = room;
    }
    return &l->copy[l->first + l->copies++];
}

void cuemu_copy(void *dst, const void *src, int bytes, struct cuemu_site at)
{
    struct lane *l = running_lane();
    emulator_count.copies++;
    if (!copy_fits(l, dst, src, bytes, at))
        return;
    struct pending_copy *c = append(l);
    *c = (struct pending_copy){dst, src, bytes, l->groups, at};
    detector_copy_begin(l, c);
    if (emulator_options.late_copies)
        memset(dst, 0xFF, 16);
    else
        perform(c);
}

void cuemu_copy_commit(void)
{
    running_lane()->groups++;
}

void cuemu_copy_wait(int most, struct cuemu_site at)
{
    struct lane *l = running_lane();
    (void)at;
    while (l->copies > 0 && l->copy[l->first].group + (unsigned)most < l->groups) {
        const struct pending_copy *c = &l->copy[l->first++];
        l->copies--;
        if (emulator_options.late_copies)
            perform(c);
        detector_copy_end(l, c);
    }
}

void leave_copies(struct lane *l)
{
    if (l->copies > 0)
        report(FAULT_UNWAITED_COPY, l->copy[l->first].at, nowhere,
               "%s exits with %d cp.async not waited for; the first was issued here",
               name_of(l).text, l->copies);
}

void forget_copies(struct lane *l)
{
    l->first = l->copies = 0;
    l->groups = 0;
}
