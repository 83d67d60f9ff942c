#include "hevc.h"
#include "CLibraryFile.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// libde265 allocates a picture and decodes into it. If a damaged bitstream ends early, the rest keeps the memory's old
// content, such as another load's pixels, and no error is reported. So the memory is cleared. libheif gives no access
// to libde265's allocator, but each new decoder takes the default one, which is replaced here.

// As in libde265/de265.h. The ABI is stable for this name of the library.
struct spec {
    enum { MONOCHROME = 1, HALVED = 2, HALVED_ACROSS = 3, WHOLE = 4 } format;
    int width, height, alignment;
};

typedef struct {
    int (*get_buffer)(void *decoder, struct spec *spec, void *image, void *context);
    void (*release_buffer)(void *decoder, void *image, void *context);
} allocation;

static int (*bits_of)(const void *image, int channel);
static void (*set_plane)(void *image, int channel, void *memory, int stride, void *context);

/// Padding after a plane, which is read and written in whole vectors.
enum { PADDING = 16 };

static int get_cleared(void *decoder, struct spec *spec, void *image, void *context) {
    (void)decoder, (void)context;
    void *planes[3] = {0};
    int strides[3] = {0}, count = spec->format == MONOCHROME ? 1 : 3;
    for (int c = 0; c < count; c++) {
        int across = c > 0 && spec->format != WHOLE ? 2 : 1, down = c > 0 && spec->format == HALVED ? 2 : 1;
        int columns = (spec->width / across + spec->alignment - 1) / spec->alignment * spec->alignment;
        strides[c] = columns * ((bits_of(image, c) + 7) / 8);
        // calloc aligns memory as vectors need it, and libde265 frees it with free.
        planes[c] = calloc((size_t)strides[c] * (size_t)(spec->height / down) + PADDING, 1);
        if (planes[c]) continue;
        for (int previous = 0; previous < c; previous++) free(planes[previous]);
        return 0;
    }
    for (int c = 0; c < 3; c++) set_plane(image, c, planes[c], strides[c], NULL);
    return 1;
}

void clear_hevc_pictures(void) {
    void *library = clibrary_open(LIBRARY_FILE("libde265", "0"), CLIBRARY_ANY);
    if (!library) return;
    bits_of = (__typeof__(bits_of))dlsym(library, "de265_get_bits_per_pixel");
    set_plane = (__typeof__(set_plane))dlsym(library, "de265_set_image_plane");
    const allocation *(*defaults)(void) =
        (__typeof__(defaults))dlsym(library, "de265_get_default_image_allocation_functions");
    // The defaults are a variable of the library; only the return type is const.
    if (bits_of && set_plane && defaults) ((allocation *)defaults())->get_buffer = get_cleared;
}
