/* picture_png.c: PNG, by way of libpng.  Without row filters, which on flat pictures such as these
   make files larger and writing slower. */
#include "visualize/picture.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

#include "reference/tensor.h"

static void to_bytes(const uint32_t *pixel, int width, unsigned char *bytes)
{
    for (int x = 0; x < width; x++) {
        bytes[3 * x] = (unsigned char)(pixel[x] >> 16);
        bytes[3 * x + 1] = (unsigned char)(pixel[x] >> 8);
        bytes[3 * x + 2] = (unsigned char)pixel[x];
    }
}

/* Says nothing: the caller has a sentence of its own. */
static void give_up(png_structp png, png_const_charp why)
{
    (void)why;
    png_longjmp(png, 1);
}

static void keep_quiet(png_structp png, png_const_charp why)
{
    (void)png, (void)why;
}

/* False: libpng gave up, which it does by a jump. */
static bool put_image(png_structp png, png_infop info, FILE *out, const struct image *i,
                      const char *description, unsigned char *row)
{
    static char key[] = "Description";
    png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE,
                     .key = key,
                     .text = (char *)(uintptr_t)description};
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, out);
    png_set_compression_level(png, 3);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(png, info, (png_uint_32)i->width, (png_uint_32)i->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_text(png, info, &text, 1);
    png_write_info(png, info);
    for (int y = 0; y < i->height; y++) {
        to_bytes(i->pixel + (size_t)y * (size_t)i->width, i->width, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    return true;
}

bool png_write(const struct image *i, const char *description, const char *path, bool force,
               struct message *why)
{
    struct output_file file;
    if (!file_begin(&file, path, force, why))
        return false;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, keep_quiet);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    unsigned char *row = malloc((size_t)i->width * 3);
    bool ok = info != NULL && row != NULL && put_image(png, info, file.stream, i, description, row);
    png_destroy_write_struct(&png, &info);
    free(row);
    if (ok)
        return file_commit(&file, why);
    file_abandon(&file);
    return refuse(why, "%.400s: the picture cannot be written", path);
}

static bool get_image(png_structp png, png_infop info, FILE *in, struct image *i,
                      unsigned char *volatile *row)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, in);
    png_read_info(png, info);
    png_uint_32 width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if (png_get_color_type(png, info) != PNG_COLOR_TYPE_RGB || png_get_bit_depth(png, info) != 8 ||
        width > IMAGE_LARGEST || height > IMAGE_LARGEST || !image_new(i, (int)width, (int)height) ||
        (*row = malloc((size_t)width * 3)) == NULL)
        return false;
    for (int y = 0; y < i->height; y++) {
        uint32_t *pixel = i->pixel + (size_t)y * (size_t)i->width;
        png_read_row(png, *row, NULL);
        for (int x = 0; x < i->width; x++)
            pixel[x] = (uint32_t)(*row)[3 * x] << 16 | (uint32_t)(*row)[3 * x + 1] << 8 |
                       (*row)[3 * x + 2];
    }
    return true;
}

bool png_read(const char *path, struct image *i, struct message *why)
{
    FILE *in = fopen(path, "rb");
    unsigned char *volatile row = NULL;
    *i = (struct image){0};
    if (in == NULL)
        return refuse(why, "%.400s: no such file", path);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, keep_quiet);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    bool ok = info != NULL && get_image(png, info, in, i, &row);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(in);
    free(row);
    if (ok)
        return true;
    image_free(i);
    return refuse(why, "%.400s: no PNG of 8-bit colours", path);
}
