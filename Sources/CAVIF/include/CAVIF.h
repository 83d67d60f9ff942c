/// Decodes and encodes still and animated AVIF files with libavif.
///
/// libavif is loaded by the first call that needs it, since most programs that link this module need neither it nor its
/// codecs. Its structures differ between versions, so the loaded version has to be the one this module was built with.
#ifndef CAVIF_H
#define CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called now and then by long work; true stops it.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cavif_cancellation;

/// Why a call failed, on one line.
typedef struct {
    char message[240];
} cavif_failure;

/// The file name of the library that is loaded.
const char *_Nonnull cavif_library_name(void);

/// Whether libavif is available. If not, `failure` says why and what to install.
bool cavif_is_available(cavif_failure *_Nonnull failure);

/// A sequence open for decoding. Only one thread may use it at a time.
typedef struct cavif_sequence cavif_sequence;

/// Opens a file's image sequence. The bytes have to stay valid until `cavif_close`.
/// - Parameters:
///   - pixels: The most pixels of a coded frame. A larger frame fails before it is decoded.
///   - frames: The most frames of the sequence.
cavif_sequence *_Nullable cavif_open(
    const uint8_t *_Nonnull bytes, size_t count, size_t pixels, size_t frames, cavif_cancellation cancellation,
    cavif_failure *_Nonnull failure);

/// Decodes the next frame to RGB or RGBA, 8 bits a channel with straight alpha, in the file's colours.
/// - Parameters:
///   - canvas: `width × height × channels` bytes. A frame of another size fails.
///   - end: The end of the frame, in milliseconds from the beginning.
bool cavif_next(
    cavif_sequence *_Nonnull sequence, int width, int height, int channels, uint8_t *_Nonnull canvas,
    double *_Nonnull end, cavif_failure *_Nonnull failure);

/// Closes the sequence.
void cavif_close(cavif_sequence *_Nonnull sequence);

/// A still picture that is assembled from tiles and its transparency.
typedef struct cavif_still cavif_still;

/// The size of the canvas, and a tile's place on it.
typedef struct {
    int width, height;
    int left, top;
    bool is_alpha;
} cavif_tile;

/// Starts a picture. Returns NULL if memory can't be allocated.
cavif_still *_Nullable cavif_still_new(void);

/// Decodes a file of one item and adds it to the picture: colours first, then transparency. The bytes have to stay
/// valid until `cavif_still_free`.
/// - Parameter pixels: The most pixels of the item. A larger item fails before it is decoded.
bool cavif_still_add(
    cavif_still *_Nonnull still, const uint8_t *_Nonnull bytes, size_t count, size_t pixels, cavif_tile place,
    cavif_failure *_Nonnull failure);

/// A picture's planes as coded, with 8 bits a sample, or 16 if `depth` is above 8.
typedef struct {
    int width, height, depth;
    /// The number of planes, 1 without colours, else 3; how many columns and rows of the picture share a sample of the
    /// second and third plane.
    int count, across, down;
    bool is_full_range;
    /// The code points of the colours (ITU-T H.273).
    int matrix, primaries, transfer;
    const uint8_t *_Nullable rows[3];
    size_t row_bytes[3];
} cavif_planes;

/// The planes of a picture once all parts have been added. They stay valid until `cavif_still_free`.
cavif_planes cavif_still_planes(const cavif_still *_Nonnull still);

/// Converts the whole picture to RGB or RGBA with straight alpha, in the file's colours.
/// - Parameters:
///   - depth: Bits a channel: 8, or 16 in the order of the machine, for which `pixels` has to be aligned.
///   - pixels: `width × height × channels` samples.
bool cavif_still_rgb(
    cavif_still *_Nonnull still, int channels, int depth, bool is_premultiplied, uint8_t *_Nonnull pixels,
    cavif_failure *_Nonnull failure);

/// Frees a picture.
void cavif_still_free(cavif_still *_Nonnull still);

/// How to write a still picture or a sequence.
typedef struct {
    int width, height;
    /// 1 for grey, 3 for RGB, 4 for RGBA.
    int channels;
    /// Bits a channel of the file: 8, 10 or 12. Above 8, pixels have 16 in the order of the machine.
    int depth;
    /// Whether it is a still picture. Only one frame is added then.
    bool is_still;
    /// 1 to 100.
    int quality;
    /// From 0 (fast) to 9.
    int effort;
    bool lossless, full_chroma;
    /// The numbers of the colours by ITU-T H.273.
    int primaries, transfer;
    /// An ICC profile, which is read by `cavif_encoder_new` only; NULL for none.
    const uint8_t *_Nullable profile;
    size_t profile_count;
} cavif_encoding;

/// A file being written.
typedef struct cavif_encoder cavif_encoder;

/// Starts a file.
cavif_encoder *_Nullable cavif_encoder_new(cavif_encoding encoding, cavif_failure *_Nonnull failure);

/// Writes the next frame. Its duration is in milliseconds, at least 1.
bool cavif_encoder_add(
    cavif_encoder *_Nonnull encoder, const uint8_t *_Nonnull pixels, uint64_t duration,
    cavif_failure *_Nonnull failure);

/// Finishes the file and returns its bytes, which stay valid until `cavif_encoder_free`; NULL on failure.
const uint8_t *_Nullable cavif_encoder_finish(
    cavif_encoder *_Nonnull encoder, size_t *_Nonnull count, cavif_failure *_Nonnull failure);

/// Frees the encoder.
void cavif_encoder_free(cavif_encoder *_Nonnull encoder);

#endif
