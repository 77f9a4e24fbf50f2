/* devices.h: GPUs by name, and their figures with sources.  The tables are devices.def. */
#ifndef FLASHULP_DEVICES_H
#define FLASHULP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "reference/message.h"

enum architecture {
#define ARCHITECTURE(id, ...) ARCHITECTURE_##id,
#include "simulator/devices.def"
#undef ARCHITECTURE
    ARCHITECTURE_COUNT
};

enum device {
#define DEVICE(id, ...) DEVICE_##id,
#include "simulator/devices.def"
#undef DEVICE
    DEVICE_COUNT
};

enum quantity_id {
#define QUANTITY(id, ...) QUANTITY_##id,
#include "simulator/devices.def"
#undef QUANTITY
    QUANTITY_COUNT
};

struct architecture_info {
    const char *name, *meaning;
    int shared_per_sm, shared_per_block; /* KB of 1,024 bytes */
    int threads_per_sm, blocks_per_sm;
};
const struct architecture_info *architecture_info(enum architecture a);

struct device_info {
    const char *name;
    enum architecture architecture;
    const char *meaning;
};
const struct device_info *device_info(enum device d);

/* "H200", in any case of letters.  An architecture ("SM120") or the beginning of several names
   ("H100") is refused with the devices it could mean, another unknown name with the nearest. */
bool device_from_name(const char *name, enum device *d, struct message *why);

/* The figure, or 0 where it is not established; *source (may be NULL) the document, or NULL. */
double device_figure(enum device d, enum quantity_id q, const char **source);
const char *quantity_name(enum quantity_id q);
const char *quantity_unit(enum quantity_id q);

/* A device as a report needs it, of the table or of the user's own.  Owns nothing. */
struct device_record {
    char name[64], meaning[160];
    enum architecture architecture;
    double figure[QUANTITY_COUNT];    /* 0: not established; SMs are whole, 1 to 4,096 */
    char source[QUANTITY_COUNT][160]; /* the document, or the file; "" where not established */
};

/* What `--device` takes: a name as for device_from_name, or a file's path, which ends in .json. */
bool device_lookup(const char *name_or_path, struct device_record *d, struct message *why);
/* "H200,B200": what `--device` takes where several may be named; at most `room`, none twice.  The
   refusals name --device. */
bool devices_from_list(const char *list, struct device_record *d, int room, int *count,
                       struct message *why);
/* A JSON file as `flashulp list devices --json` prints one device, of at most 64 KiB; wanted are
   name, architecture and figures with SMs.  tests/data/device.json is one. */
bool device_from_file(const char *path, struct device_record *d, struct message *why);
/* The same from memory: a zero byte stands at bytes[size]; `label` begins the refusals. */
bool device_parse(const char *label, const unsigned char *bytes, size_t size,
                  struct device_record *d, struct message *why);

#endif
