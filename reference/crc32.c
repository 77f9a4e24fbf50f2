/* crc32.c: see crc32.h.  Four bits a step: a table of 16 words that can be checked by eye; many bytes
   eight at a time, with tables that are worked out from it at each call (Kounavis and Berry 2005). */
#include "reference/crc32.h"

enum { SLICES = 8, MANY = 4096 };

/* Eight bits more, no new byte. */
static uint32_t byte_step(uint32_t crc)
{
    /* table[n]: n pushed through four steps of the polynomial division. */
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    crc = crc >> 4 ^ table[crc & 15];
    return crc >> 4 ^ table[crc & 15];
}

/* Whole eights of the bytes; slice[k][n]: byte n with k more zero bytes behind it. */
static uint32_t many(uint32_t crc, const unsigned char *byte, size_t eights)
{
    uint32_t slice[SLICES][256];
    for (uint32_t n = 0; n < 256; n++) {
        slice[0][n] = byte_step(n);
        for (int k = 1; k < SLICES; k++)
            slice[k][n] = byte_step(slice[k - 1][n]);
    }
    for (; eights > 0; eights--, byte += 8) {
        crc ^= (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
               (uint32_t)byte[3] << 24;
        crc = slice[7][crc & 255] ^ slice[6][crc >> 8 & 255] ^ slice[5][crc >> 16 & 255] ^
              slice[4][crc >> 24] ^ slice[3][byte[4]] ^ slice[2][byte[5]] ^ slice[1][byte[6]] ^
              slice[0][byte[7]];
    }
    return crc;
}

uint32_t crc32_ieee(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    crc = ~crc;
    if (count >= MANY) {
        crc = many(crc, byte, count / 8);
        byte += count / 8 * 8;
        count %= 8;
    }
    for (size_t i = 0; i < count; i++)
        crc = byte_step(crc ^ byte[i]);
    return ~crc;
}
