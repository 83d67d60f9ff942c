/// What this package asks of libvips, in a few coarse calls. Nothing of libvips' own headers is seen by files that include this.
///
/// libvips is loaded when the first of these calls needs it, not when the program starts: it and the hundred libraries
/// behind it take 40 ms.
#ifndef CVIPS_H
#define CVIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Asked now and then by work that takes long; true stops it.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cvips_cancellation;

/// Why a call failed: libvips' own words, on one line.
typedef struct {
    char message[240];
} cvips_failure;

/// The one loader to call. libvips never guesses: its detection is where hostile files hang it.
typedef enum {
    CVIPS_PNG,
    CVIPS_SVG,
    CVIPS_JXL,
} cvips_loader;

/// How to open a file.
typedef struct {
    cvips_loader loader;
    /// Whether a file that is cut off or damaged gives what could be read of it.
    bool allow_damage;
} cvips_options;

/// What the file's header says, and what the pixels will be.
typedef struct {
    /// The picture's size as it is stored.
    int width, height;
    /// How many pages or layers the file has; the first is read.
    int frames;
    /// The EXIF orientation, 1 to 8, that is still to be applied.
    int orientation;
    bool has_alpha;
    bool has_profile;
    int bits;
    /// The pixels that `cvips_read_rows` gives: 1 grey, 3 RGB, 4 RGBA.
    int channels;
} cvips_header;

/// A file that is open for decoding. One thread at a time.
typedef struct cvips_image cvips_image;

/// Reads a file's header and prepares to decode it. The bytes have to stay until `cvips_close`.
cvips_image *_Nullable cvips_open(
    const uint8_t *_Nonnull bytes, size_t count, cvips_options options, cvips_cancellation cancellation,
    cvips_header *_Nonnull header, cvips_failure *_Nonnull failure);

/// Decodes rows, 8 bits a channel, alpha straight, in sRGB or the colours of `cvips_pending_profile`. They
/// have to be asked for in their order, a few at a time: they are never all held in memory unless the format forces it.
bool cvips_read_rows(
    cvips_image *_Nonnull image, int top, int count, uint8_t *_Nonnull pixels,
    cvips_failure *_Nonnull failure);

/// The ICC profile in whose colours the pixels are, if they are not in sRGB. Conversion is left to the caller because
/// few pixels are left when all reduction is over.
const uint8_t *_Nullable cvips_pending_profile(const cvips_image *_Nonnull image, size_t *_Nonnull size);

/// Ends the decoding.
void cvips_close(cvips_image *_Nonnull image);

/// Whether preparing a conversion from an ICC profile takes bounded time and memory. A profile that doesn't counts as
/// absent, as damaged ones do in browsers: LittleCMS can't be stopped.
bool cvips_is_bounded_profile(const uint8_t *_Nonnull bytes, size_t count);

/// Converts pixels from an ICC profile to sRGB, in place. A profile that libvips can't use leaves them as they are.
bool cvips_convert_to_srgb(
    uint8_t *_Nonnull pixels, int width, int height, int channels, const uint8_t *_Nonnull profile, size_t profile_size,
    cvips_cancellation cancellation, cvips_failure *_Nonnull failure);

/// Converts pixels of cyan, magenta, yellow and black, 0 for no ink, from an ICC profile to sRGB. `is_usable` is false, and
/// nothing is written, if libvips can't use the profile.
bool cvips_convert_inks(
    const uint8_t *_Nonnull inks, int width, int height, const uint8_t *_Nonnull profile, size_t profile_size,
    uint8_t *_Nonnull out, bool *_Nonnull is_usable, cvips_cancellation cancellation, cvips_failure *_Nonnull failure);

/// A picture.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height;
    int channels;
} cvips_picture;

/// Bytes that are written as they are, or none.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} cvips_block;

/// How an AVIF is written.
typedef struct {
    /// 1 to 100.
    int quality;
    /// From 0 (fast) to 9.
    int effort;
    bool lossless, full_chroma;
    /// Metadata.
    cvips_block exif, xmp, profile;
} cvips_encoding;

/// Writes an AVIF. Free the bytes with `cvips_free`.
uint8_t *_Nullable cvips_save_avif(
    cvips_picture picture, cvips_encoding encoding, cvips_cancellation cancellation, size_t *_Nonnull count,
    cvips_failure *_Nonnull failure);

/// Frees what `cvips_save_avif` gave.
void cvips_free(void *_Nullable bytes);

/// To be called by each thread that made any of these calls before it ends.
void cvips_thread_will_end(void);

#endif
