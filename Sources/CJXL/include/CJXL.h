/// Decodes JPEG XL with libjxl, which is loaded by the first call that needs it.
#ifndef CJXL_H
#define CJXL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called now and then by long work; true stops it.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cjxl_cancellation;

/// Why a call failed, on one line.
typedef struct {
    char message[240];
} cjxl_failure;

/// What a codestream holds, and what `cjxl_next` returns of it.
typedef struct {
    /// The upright size.
    int width, height;
    /// Bits of a stored sample.
    int bits;
    /// All stored channels.
    int stored_channels;
    /// Whether it is an animation, and how often it plays; 0 means forever.
    bool is_animated;
    int loops;
    /// One colour channel or three.
    bool is_grey;
    bool has_alpha;
    /// Whether the colours are inks, with black apart; their black can't be decoded.
    bool is_ink;
    /// The numbers of ITU-T H.273 for the colours of the pixels; 0 if only the profile describes them.
    int primaries, transfer;
    /// Whether samples have 16 bits, the high byte first, since 8 would lose dark tones.
    bool is_deep;
} cjxl_header;

/// The file name of the library that is loaded.
const char *_Nonnull cjxl_library_name(void);

/// Whether libjxl is available. If not, `failure` says why and what to install.
bool cjxl_is_available(cjxl_failure *_Nonnull failure);

/// A codestream open for decoding. Only one thread may use it at a time.
typedef struct cjxl_file cjxl_file;

/// Reads the header of a codestream without a container. The bytes have to stay valid until `cjxl_close`.
/// - Parameter decodes: Whether frames are to be decoded, rather than counted.
cjxl_file *_Nullable cjxl_open(
    const uint8_t *_Nonnull bytes, size_t count, bool decodes, cjxl_cancellation cancellation,
    cjxl_header *_Nonnull header, cjxl_failure *_Nonnull failure);

/// The ICC profile of the pixels, which stays valid until `cjxl_close`; `NULL` if the header's numbers describe them.
const uint8_t *_Nullable cjxl_profile(const cjxl_file *_Nonnull file, size_t *_Nonnull size);

/// Counts the frames without decoding them, as far as the file goes.
int cjxl_count_frames(cjxl_file *_Nonnull file);

/// Decodes the next frame, drawn on those before it, with straight alpha.
/// - Parameters:
///   - allow_damage: Whether a truncated file yields its readable part.
///   - pixels: Grey or three colours, with alpha if the file has it; of one byte a sample, or two if `is_deep`. The
///     size has to fit.
///   - duration: How long the frame is shown, in milliseconds.
bool cjxl_next(
    cjxl_file *_Nonnull file, bool allow_damage, uint8_t *_Nonnull pixels, size_t size,
    double *_Nonnull duration, cjxl_failure *_Nonnull failure);

/// Closes the file.
void cjxl_close(cjxl_file *_Nonnull file);

#endif
