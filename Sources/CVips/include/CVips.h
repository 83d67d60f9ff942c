/// The calls that this package makes to libvips. Files that include this header don't see libvips' own headers.
///
/// libvips is loaded by the first call that needs it, not when the program starts: it and the hundred libraries behind
/// it take 40 ms.
#ifndef CVIPS_H
#define CVIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called now and then by long work; true stops it.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cvips_cancellation;

/// Why a call failed: libvips' message, on one line.
typedef struct {
    char message[240];
} cvips_failure;

/// Whether libvips is available. If not, `failure` says why and what to install.
bool cvips_is_available(cvips_failure *_Nonnull failure);

/// The loader to call. libvips never guesses the format, since hostile files can hang its detection.
typedef enum {
    CVIPS_PNG,
} cvips_loader;

/// How to open a file.
typedef struct {
    cvips_loader loader;
    /// Whether a truncated or damaged file yields its readable part.
    bool allow_damage;
} cvips_options;

/// The file's header, and the format of the pixels.
typedef struct {
    /// The stored size of the picture.
    int width, height;
    /// The number of pages or layers, of which the first is read.
    int frames;
    /// The EXIF orientation to apply, 1 to 8.
    int orientation;
    bool has_alpha;
    bool has_profile;
    int bits;
    /// The channels of the rows: 1 for grey, 3 for RGB, 4 for RGBA.
    int channels;
} cvips_header;

/// A file open for decoding. Only one thread may use it at a time.
typedef struct cvips_image cvips_image;

/// Reads a file's header and prepares to decode it. The bytes have to stay valid until `cvips_close`.
cvips_image *_Nullable cvips_open(
    const uint8_t *_Nonnull bytes, size_t count, cvips_options options, cvips_cancellation cancellation,
    cvips_header *_Nonnull header, cvips_failure *_Nonnull failure);

/// Decodes rows, 8 bits a channel, alpha straight, in sRGB or the colours of `cvips_pending_profile`. Request them in
/// order, a few at a time. They are only held in memory all together if the format requires it.
bool cvips_read_rows(
    cvips_image *_Nonnull image, int top, int count, uint8_t *_Nonnull pixels,
    cvips_failure *_Nonnull failure);

/// The ICC profile of the pixels, or NULL for sRGB. The caller converts them after reduction, when few pixels are left.
const uint8_t *_Nullable cvips_pending_profile(const cvips_image *_Nonnull image, size_t *_Nonnull size);

/// Closes the file.
void cvips_close(cvips_image *_Nonnull image);

/// Whether preparing a conversion from an ICC profile takes bounded time and memory. LittleCMS can't be stopped, so any
/// other profile is ignored, as browsers ignore damaged ones.
bool cvips_is_bounded_profile(const uint8_t *_Nonnull bytes, size_t count);

/// Converts pixels from an ICC profile to sRGB, in place. If libvips can't use the profile, the pixels stay unchanged.
bool cvips_convert_to_srgb(
    uint8_t *_Nonnull pixels, int width, int height, int channels, const uint8_t *_Nonnull profile, size_t profile_size,
    cvips_cancellation cancellation, cvips_failure *_Nonnull failure);

/// Converts CMYK pixels, 0 for no ink, from an ICC profile to sRGB. If libvips can't use the profile, `is_usable`
/// becomes false and nothing is written.
bool cvips_convert_inks(
    const uint8_t *_Nonnull inks, int width, int height, const uint8_t *_Nonnull profile, size_t profile_size,
    uint8_t *_Nonnull out, bool *_Nonnull is_usable, cvips_cancellation cancellation, cvips_failure *_Nonnull failure);

/// A picture in memory.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height;
    int channels;
} cvips_picture;

/// How to write an AVIF with loss.
typedef struct {
    /// 1 to 100.
    int quality;
    /// From 0 (fast) to 9.
    int effort;
    bool full_chroma;
} cvips_encoding;

/// Writes an AVIF without metadata. Free the bytes with `cvips_free`.
uint8_t *_Nullable cvips_save_avif(
    cvips_picture picture, cvips_encoding encoding, cvips_cancellation cancellation, size_t *_Nonnull count,
    cvips_failure *_Nonnull failure);

/// Frees the result of `cvips_save_avif`.
void cvips_free(void *_Nullable bytes);

/// Each thread that made any of these calls has to call this before it ends.
void cvips_thread_will_end(void);

#endif
