/* device.h: memory of the device, for host code: the same four calls whether the device is a GPU
   or the emulator.  Valid C11 and C++17.

   The emulator's block ends at a guard page and holds NaNs until something is written there. */
#ifndef FLASHULP_EMULATOR_DEVICE_H
#define FLASHULP_EMULATOR_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At least one byte, aligned to 256; NULL when there is no memory. */
void *dev_alloc(size_t bytes);
void dev_free(void *p); /* NULL: nothing */
void dev_copy_in(void *dst, const void *host, size_t bytes);
void dev_copy_out(void *host, const void *src, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
