/* fuzz_device.c: any bytes as a device's JSON: what is taken lies in the ranges it promises, and
   written out as JSON it is read as the same device. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/devices.h"

static bool parse(const char *bytes, size_t size, struct device_record *d, struct message *why)
{
    char *copy = fuzz_allocate(size + 1); /* by itself, so that sanitizers see its end */
    memcpy(copy, bytes, size);
    copy[size] = 0;
    bool ok = device_parse("x", (unsigned char *)copy, size, d, why);
    free(copy);
    return ok;
}

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != 0; text++)
        fprintf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    fputc('"', out);
}

static void put_device(FILE *out, const struct device_record *d)
{
    fputs("{\"name\":", out);
    put_text(out, d->name);
    fputs(",\"meaning\":", out);
    put_text(out, d->meaning);
    fprintf(out, ",\"architecture\":\"%s\",\"figures\":", architecture_info(d->architecture)->name);
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        if (d->figure[q] == 0)
            continue;
        fprintf(out, "%s\"%s\":{\"value\":%.17g,\"unit\":\"%s\",\"source\":", q == 0 ? "{" : ",",
                quantity_name((enum quantity_id)q), d->figure[q],
                quantity_unit((enum quantity_id)q));
        put_text(out, d->source[q]);
        fputc('}', out);
    }
    fputs("}}", out);
}

static void require_ranges(const struct device_record *d)
{
    double sms = d->figure[QUANTITY_SMS];
    fuzz_require(sms >= 1 && sms <= 4096 && sms == (int)sms, "SMs are whole, from 1 to 4,096");
    fuzz_require((unsigned)d->architecture < ARCHITECTURE_COUNT, "the architecture is one");
    fuzz_require(d->name[0] != 0, "the device has a name");
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        fuzz_require(d->figure[q] >= 0 && d->figure[q] <= 1e9, "a figure lies from 0 to 1e9");
        fuzz_require(d->figure[q] != 0 || d->source[q][0] == 0, "what is not there has no source");
    }
}

void fuzz_device(const uint8_t *data, size_t size)
{
    struct device_record d, back;
    struct message why = {""};
    char *text = NULL;
    size_t length;
    if (!parse((const char *)data, size, &d, &why)) {
        fuzz_require_sentence(&why);
        return;
    }
    require_ranges(&d);
    FILE *memory = open_memstream(&text, &length);
    fuzz_require(memory != NULL, "there is memory for the test itself");
    put_device(memory, &d);
    fclose(memory);
    fuzz_require(parse(text, length, &back, &why), "a device that was written can be read");
    fuzz_require(strcmp(d.name, back.name) == 0 && strcmp(d.meaning, back.meaning) == 0 &&
                     d.architecture == back.architecture,
                 "a device is read as it was written");
    for (int q = 0; q < QUANTITY_COUNT; q++)
        fuzz_require(d.figure[q] == back.figure[q] && strcmp(d.source[q], back.source[q]) == 0,
                     "a figure is read as it was written");
    free(text);
}
