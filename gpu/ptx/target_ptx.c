/* target_ptx.c: kernels as nvcc's PTX, on a CPU.  The PTX of every kernel file lies beside the
   program in gpu/ptx/NN/, NN being the architecture it was made for; FLASHULP_PTX names another
   folder. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/emulator.h"
#include "gpu/ptx/names.h"
#include "gpu/ptx/ptx.h"
#include "gpu/target.h"
#include "simulator/data.h"

static struct ptx_module module;
static struct ptx_launch settings;
static struct message failure;
static bool failed;

const struct kernel_entries *target_kernels(bool watched)
{
    static const struct kernel_entries kernels = KERNEL_ENTRIES(gpu_);
    (void)watched;
    return &kernels;
}

/* As of the emulator: a unit is asked for, launches take turns as told. */
bool target_is_emulator(void)
{
    return true;
}

static const char *folder(void)
{
    static char path[PATH_MAX + 16];
    const char *asked = getenv("FLASHULP_PTX");
    if (asked != NULL)
        return asked;
    program_folder(path);
    strcat(path, "/gpu/ptx/80");
    return path;
}

static bool read_folder(struct message *why)
{
    DIR *d = opendir(folder());
    struct dirent *entry;
    if (d == NULL)
        return refuse(why, "no folder %s: make ptx fills it, where nvcc is", folder());
    bool read = true;
    while (read && (entry = readdir(d)) != NULL) {
        char *path = malloc(PATH_MAX);
        const char *end = strrchr(entry->d_name, '.');
        if (path == NULL)
            abort();
        snprintf(path, PATH_MAX, "%s/%s", folder(), entry->d_name);
        if (end != NULL && strcmp(end, ".ptx") == 0)
            read = ptx_read(&module, path, why); /* kernels keep the path */
        else
            free(path);
    }
    closedir(d);
    return read && (module.count > 0 || refuse(why, "no .ptx in %s", folder()));
}

bool target_here(struct message *why)
{
    return module.count > 0 || read_folder(why);
}

const char *target_name(void)
{
    return "PTX that nvcc made, on a CPU: no GPU";
}

const char *target_unit(void)
{
    return NULL;
}

int target_shared_bytes(void)
{
    return 227 * 1024;
}

bool target_configure(const struct target_settings *s, struct message *why)
{
    char text[32];
    bool turned = s->schedule == SCHEDULE_LATE || s->schedule == SCHEDULE_RANDOM;
    failed = false;
    settings = (struct ptx_launch){.late = s->schedule != SCHEDULE_PLAIN};
    settings.warps = turned ? PTX_DESCENDING : PTX_ASCENDING;
    settings.blocks = turned ? PTX_DESCENDING : PTX_ASCENDING;
    snprintf(text, sizeof text, "mma@%s", s->unit != NULL ? s->unit : "");
    settings.mma = s->unit != NULL ? mma_parse(text, why) : NULL;
    return s->unit == NULL || settings.mma != NULL;
}

bool target_block_order(uint64_t blocks, uint64_t *number)
{
    for (uint64_t n = 0; n < blocks; n++)
        number[n] = settings.blocks == PTX_DESCENDING ? blocks - 1 - n : n;
    return true;
}

void ptx_start(const void *kernel, const unsigned grid[3], const unsigned block[3],
               size_t shared_bytes, const unsigned char *params, size_t bytes);
void ptx_start(const void *kernel, const unsigned grid[3], const unsigned block[3],
               size_t shared_bytes, const unsigned char *params, size_t bytes)
{
    const char *name = ptx_name_of(kernel);
    if (failed)
        return;
    settings.kernel = name != NULL ? ptx_find(&module, name) : NULL;
    memcpy(settings.grid, grid, sizeof settings.grid);
    memcpy(settings.block, block, sizeof settings.block);
    settings.shared_bytes = shared_bytes;
    settings.params = params;
    if (settings.kernel == NULL)
        failed = !refuse(&failure, "%s: no such entry in %s", name != NULL ? name : "a kernel",
                         folder());
    else if (bytes != settings.kernel->param_bytes)
        failed = !refuse(&failure, "%s: %zu bytes of parameters, PTX wants %zu", name, bytes,
                         settings.kernel->param_bytes);
    else
        failed = !ptx_run(&settings, &failure);
}

bool target_finish(struct message *why)
{
    return !failed || refuse(why, "%s", failure.text);
}

void target_count(struct target_counters *c)
{
    memset(c, 0, sizeof *c);
}

bool target_lanes(struct trace *t)
{
    (void)t;
    return false;
}
