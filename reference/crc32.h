/* crc32.h: the CRC of IEEE 802.3 (reflected polynomial EDB88320), as zip and PNG files use it. */
#ifndef FLASHULP_CRC32_H
#define FLASHULP_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of some bytes after the bytes whose CRC is `crc` (0 at the start). */
uint32_t crc32_ieee(uint32_t crc, const void *bytes, size_t count);

#endif
