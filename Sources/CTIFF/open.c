#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    /// How much longer than its samples a compressed strip may be.
    LONGER_STRIP = 1 << 16,
    LARGEST_ALLOCATION = 1 << 30,
};

bool refuse(ctiff_file *file, bool is_unsupported, const char *format, ...) {
    va_list words;
    va_start(words, format);
    vsnprintf(file->failure.message, sizeof file->failure.message, format, words);
    va_end(words);
    file->failure.is_unsupported = is_unsupported;
    return false;
}

// Callbacks of libtiff.

static int hear_warning(TIFF *handle, void *context, const char *module, const char *format, va_list words) {
    (void)handle;
    ctiff_file *file = context;
    if (strcmp(module, "JPEGLib") != 0) return 1;
    char message[240];
    vsnprintf(message, sizeof message, format, words);
    // libjpeg's words for lost pixels. Other warnings are about bytes that no pixel needs.
    static const char *const losses[] = {"remature end", "bad Huffman code", "bad arithmetic", "found marker"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (strstr(message, losses[i])) file->has_lost_pixels = true;
    if (file->has_lost_pixels) memcpy(file->failure.message, message, sizeof message);
    return 1;
}

static tmsize_t read_bytes(thandle_t handle, void *buffer, tmsize_t length) {
    byte_source *source = handle;
    const ctiff_file *file = source->file;
    if (length < 0) return -1;
    uint64_t rest = source->position < file->count ? file->count - source->position : 0;
    size_t taken = (uint64_t)length < rest ? (size_t)length : (size_t)rest;
    if (taken > 0) memcpy(buffer, file->bytes + source->position, taken);
    source->position += taken;
    uint64_t end = file->count + file->padding;
    uint64_t padded = source->position < end ? end - source->position : 0;
    size_t zeros = (size_t)length - taken < padded ? (size_t)length - taken : (size_t)padded;
    memset((uint8_t *)buffer + taken, 0, zeros);
    source->position += zeros;
    return (tmsize_t)(taken + zeros);
}

static tmsize_t write_nothing(thandle_t handle, void *buffer, tmsize_t length) {
    (void)handle, (void)buffer, (void)length;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    byte_source *source = handle;
    uint64_t base = whence == SEEK_CUR ? source->position : whence == SEEK_END ? source->file->count : 0;
    source->position = base + offset;
    return source->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) {
    const ctiff_file *file = ((byte_source *)handle)->file;
    return file->count + file->padding;
}

static int map(thandle_t handle, void **base, toff_t *size) {
    const ctiff_file *file = ((byte_source *)handle)->file;
    // A padded file can't be mapped, as the padding isn't in memory.
    if (file->allow_damage) return 0;
    *base = (void *)file->bytes;
    *size = file->count;
    return 1;
}

static void unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static bool open_plane(ctiff_file *file, int plane) {
    TIFFOpenOptions *options = tiff.TIFFOpenOptionsAlloc();
    if (!options) return refuse(file, false, "out of memory");
    tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, keep_tiff_error, &file->failure);
    tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, hear_warning, file);
    tiff.TIFFOpenOptionsSetMaxSingleMemAlloc(options, LARGEST_ALLOCATION);
    file->sources[plane] = (byte_source){.file = file};
    // O: a strip's offset is read when needed. c: a strip has the length that the file says. m: a padded file isn't
    // mapped.
    file->planes[plane] = tiff.TIFFClientOpenExt(
        "", file->allow_damage ? "rcm" : "rOc", &file->sources[plane], read_bytes, write_nothing, seek, close_nothing,
        size_of, map, unmap, options);
    tiff.TIFFOpenOptionsFree(options);
    if (file->planes[plane]) return true;
    if (!file->failure.message[0]) refuse(file, false, "its directory can't be read");
    return false;
}

// Reading the directory.

static int number(TIFF *handle, uint32_t tag) {
    uint16_t value = 0;
    return tiff.TIFFGetFieldDefaulted(handle, tag, &value) ? value : 0;
}

/// Returns the photometric interpretation, or the most likely one for a file without it.
static int photometric(TIFF *handle, int compression, int samples) {
    uint16_t value;
    if (tiff.TIFFGetField(handle, TIFFTAG_PHOTOMETRIC, &value)) return value;
    bool is_fax = compression >= COMPRESSION_CCITTRLE && compression <= COMPRESSION_CCITTFAX4;
    if (is_fax || compression == COMPRESSION_CCITTRLEW) return PHOTOMETRIC_MINISWHITE;
    return samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
}

static bool are_samples_known(ctiff_file *file) {
    int bits = file->bits;
    switch (file->format) {
    case SAMPLEFORMAT_IEEEFP:
        if (bits == 16 || bits == 24 || bits == 32 || bits == 64) return true;
        return refuse(file, true, "it has floating-point numbers of %d bits", bits);
    case SAMPLEFORMAT_INT:
        // Programs that write these hold bytes in them, and other readers take them for such.
        if (bits == 8) file->format = SAMPLEFORMAT_UINT;
        if (bits == 8 || bits == 16 || bits == 32) return true;
        return refuse(file, true, "it has signed numbers of %d bits", bits);
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
        if (bits >= 1 && bits <= 32) return true;
        return refuse(file, true, "it has %d bits a sample", bits);
    default: return refuse(file, true, "its numbers are complex");
    }
}

/// Finds the alpha sample after the colours. A single extra sample of unspecified type counts as alpha.
static void find_alpha(ctiff_file *file, int colours) {
    uint16_t count = 0, *types = NULL;
    file->alpha = -1;
    if (file->samples <= colours) return;
    tiff.TIFFGetFieldDefaulted(file->planes[0], TIFFTAG_EXTRASAMPLES, &count, &types);
    for (int i = 0; i < count && colours + i < file->samples && file->alpha < 0; i++) {
        if (types[i] != EXTRASAMPLE_ASSOCALPHA && types[i] != EXTRASAMPLE_UNASSALPHA) continue;
        file->alpha = colours + i;
        file->is_associated = types[i] == EXTRASAMPLE_ASSOCALPHA;
    }
    if (file->alpha < 0 && file->samples == colours + 1) file->alpha = colours;
}

static bool is_subsampled(TIFF *handle) {
    uint16_t across = 1, down = 1;
    tiff.TIFFGetFieldDefaulted(handle, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    return across != 1 || down != 1;
}

/// Sets the samples' meaning, and whether libtiff has to convert them. Returns false if they aren't supported.
static bool set_meaning(ctiff_file *file, int photometric, int compression, bool is_planar, bool *is_raster) {
    TIFF *handle = file->planes[0];
    int colours = 3;
    *is_raster = compression == COMPRESSION_OJPEG;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
        file->meaning = GREY;
        file->min_is_white = photometric == PHOTOMETRIC_MINISWHITE;
        colours = 1;
        break;
    case PHOTOMETRIC_RGB: file->meaning = COLOUR; break;
    case PHOTOMETRIC_PALETTE: {
        uint16_t *red, *green, *blue;
        file->meaning = PALETTE;
        colours = 1;
        if (file->bits > 16 || !tiff.TIFFGetField(handle, TIFFTAG_COLORMAP, &red, &green, &blue))
            return refuse(file, false, "it has no colours for its indices");
        (file->red = red), (file->green = green), (file->blue = blue);
        break;
    }
    case PHOTOMETRIC_SEPARATED:
        if (file->samples < 4 || number(handle, TIFFTAG_INKSET) == INKSET_MULTIINK)
            return refuse(file, true, "its inks aren't cyan, magenta, yellow and black");
        file->meaning = INK;
        colours = 4;
        break;
    case PHOTOMETRIC_YCBCR:
        file->meaning = COLOUR;
        // libtiff lets libjpeg convert it to RGB.
        if (compression == COMPRESSION_JPEG && !is_planar && file->samples == 3)
            tiff.TIFFSetField(handle, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        else if (is_planar && is_subsampled(handle))
            return refuse(file, true, "its planes of colour are smaller than that of brightness");
        else
            *is_raster = true;
        break;
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
        if (file->bits != 8 && file->bits != 16) return refuse(file, true, "it has CIELAB of %d bits", file->bits);
        file->meaning = photometric == PHOTOMETRIC_CIELAB ? CIELAB : ICCLAB;
        break;
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
        file->meaning = COLOUR;
        *is_raster = true;
        break;
    default: return refuse(file, true, "its photometric interpretation %d is not known", photometric);
    }
    if (file->samples < colours && !*is_raster) return refuse(file, false, "it has too few samples for its colours");
    if (!*is_raster) find_alpha(file, colours);
    bool has_alpha = !*is_raster && file->alpha >= 0 && file->meaning != INK;
    bool is_grey = file->meaning == GREY && !*is_raster;
    file->header.is_ink = file->meaning == INK;
    file->header.is_grey = file->meaning == GREY;
    file->header.channels = has_alpha || file->meaning == INK ? 4 : is_grey ? 1 : 3;
    return true;
}

static size_t saturated(uint64_t one, uint64_t other) {
    // Leaves room to add several of these.
    const size_t most = SIZE_MAX / 16;
    uint64_t product;
    return __builtin_mul_overflow(one, other, &product) || product > most ? most : (size_t)product;
}

/// Estimates the peak memory of reading.
static size_t memory(const ctiff_file *file) {
    TIFF *handle = file->planes[0];
    uint64_t width = file->header.width, height = file->header.height;
    uint32_t rows = 0;
    bool is_tiled = tiff.TIFFIsTiled(handle);
    tiff.TIFFGetFieldDefaulted(handle, is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
    uint64_t band = rows > 0 && rows < height ? rows : height;
    size_t pixels = saturated(width, band);
    size_t bytes = saturated(pixels, (uint64_t)(file->samples * file->bits + 7) / 8);
    if (is_tiled) bytes += saturated(tiff.TIFFTileSize64(handle), 2);
    if (file->reading == BY_RASTER) bytes += saturated(pixels, 4);
    // The offset and length of each strip or tile.
    bytes += saturated(is_tiled ? tiff.TIFFNumberOfTiles(handle) : tiff.TIFFNumberOfStrips(handle), 24);
    return bytes;
}

/// Whether whole strips are decoded: short ones, with a compression that decodes rows in order anyway. With
/// `allow_damage`, rows are read one by one, to keep those before the damage.
static bool has_short_strips(const ctiff_file *file, int compression) {
    const uint64_t longest = 1 << 16;
    switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE: break;
    default: return false;
    }
    uint64_t size = tiff.TIFFStripSize64(file->planes[0]);
    return !file->allow_damage && size > 0 && size <= longest;
}

static bool read_directory(ctiff_file *file) {
    TIFF *handle = file->planes[0];
    uint32_t width = 0, height = 0;
    tiff.TIFFGetField(handle, TIFFTAG_IMAGEWIDTH, &width);
    tiff.TIFFGetField(handle, TIFFTAG_IMAGELENGTH, &height);
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
        return refuse(file, false, "it has no pixels");
    int compression = number(handle, TIFFTAG_COMPRESSION);
    if (!tiff.TIFFIsCODECConfigured((uint16_t)compression))
        return refuse(file, true, "its compression %d is not known", compression);
    file->samples = number(handle, TIFFTAG_SAMPLESPERPIXEL);
    if (file->samples < 1 || file->samples > MOST_SAMPLES)
        return refuse(file, true, "it has %d samples a pixel; at most %d are read", file->samples, MOST_SAMPLES);
    bool is_planar = file->samples > 1 && number(handle, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    file->bits = number(handle, TIFFTAG_BITSPERSAMPLE);
    file->format = number(handle, TIFFTAG_SAMPLEFORMAT);
    int orientation = number(handle, TIFFTAG_ORIENTATION);
    file->header.width = width;
    file->header.height = height;
    file->header.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    file->header.bits = file->bits;
    bool is_raster;
    if (!set_meaning(file, photometric(handle, compression, file->samples), compression, is_planar, &is_raster))
        return false;
    if (!is_raster && !are_samples_known(file)) return false;
    file->reading = is_raster ? BY_RASTER : tiff.TIFFIsTiled(handle) ? BY_TILES : BY_ROWS;
    if (file->reading == BY_ROWS && has_short_strips(file, compression)) file->reading = BY_STRIPS;
    file->plane_count = is_planar && !is_raster ? file->samples : 1;
    file->plane_samples = file->plane_count > 1 ? 1 : file->samples;
    size_t size;
    file->header.has_profile = ctiff_profile(file, &size) != NULL;
    file->is_linear = file->format == SAMPLEFORMAT_IEEEFP && !file->header.has_profile
        && (file->meaning == GREY || file->meaning == COLOUR);
    file->header.is_deep = file->bits > 8 && file->reading != BY_RASTER && file->format != SAMPLEFORMAT_IEEEFP
        && file->format != SAMPLEFORMAT_INT && (file->meaning == GREY || file->meaning == COLOUR);
    file->header.memory = memory(file);
    return true;
}

ctiff_file *ctiff_open(
    const uint8_t *bytes, size_t count, bool allow_damage, ctiff_cancellation cancellation, ctiff_header *header,
    ctiff_failure *failure) {
    if (!load_tiff(failure)) return NULL;
    ctiff_file *file = calloc(1, sizeof *file);
    if (!file) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    file->bytes = bytes;
    file->count = count;
    file->allow_damage = allow_damage;
    file->cancellation = cancellation;
    if (open_plane(file, 0) && read_directory(file)) {
        bool is_whole = true;
        for (int plane = 1; is_whole && file->reading == BY_ROWS && plane < file->plane_count; plane++)
            is_whole = open_plane(file, plane);
        if (is_whole) {
            // Set only now, since padding would let libtiff allocate any length that a truncated list in the directory
            // claims.
            if (allow_damage) file->padding = file->header.memory + LONGER_STRIP;
            *header = file->header;
            return file;
        }
    }
    *failure = file->failure;
    ctiff_close(file);
    return NULL;
}

const uint8_t *ctiff_profile(const ctiff_file *file, size_t *size) {
    uint32_t count = 0;
    void *profile = NULL;
    if (!tiff.TIFFGetField(file->planes[0], TIFFTAG_ICCPROFILE, &count, &profile) || count == 0) return NULL;
    *size = count;
    return profile;
}

void ctiff_close(ctiff_file *file) {
    for (int plane = 0; plane < MOST_SAMPLES; plane++)
        if (file->planes[plane]) tiff.TIFFClose(file->planes[plane]);
    free(file->band);
    free(file->tile);
    free(file->raster);
    free(file->wide);
    free(file);
}
