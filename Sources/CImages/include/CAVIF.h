/// What this package asks of libavif: the pictures of AVIF files, still and moving, and writing those that move.
///
/// libavif is loaded when the first of these calls needs it: it and the codecs behind it are of no use to most programs
/// that link this. Its structures differ from version to version, so what is loaded has to be of the version that this
/// was built with.
#ifndef CAVIF_H
#define CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Asked now and then by work that takes long; true stops it.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cavif_cancellation;

/// Why a call failed, on one line.
typedef struct {
    char message[240];
} cavif_failure;

/// The name of the file that is loaded.
const char *_Nonnull cavif_library_name(void);

/// Whether libavif can be had; if not, why, and what to install.
bool cavif_is_available(cavif_failure *_Nonnull failure);

/// A sequence that is open for decoding. One thread at a time.
typedef struct cavif_sequence cavif_sequence;

/// Opens a file's image sequence. The bytes have to stay until `cavif_close`.
/// - Parameters:
///   - pixels: the most that a coded frame may have; a larger one fails before it is decoded.
///   - frames: the most that the sequence may have.
cavif_sequence *_Nullable cavif_open(
    const uint8_t *_Nonnull bytes, size_t count, size_t pixels, size_t frames, cavif_cancellation cancellation,
    cavif_failure *_Nonnull failure);

/// Decodes the next frame: RGB or RGBA, 8 bits a channel, straight, in the file's colours.
/// - Parameters:
///   - canvas: `width × height × channels` bytes. A frame of another size fails.
///   - end: when the next frame is to show, in milliseconds from the beginning.
bool cavif_next(
    cavif_sequence *_Nonnull sequence, int width, int height, int channels, uint8_t *_Nonnull canvas,
    double *_Nonnull end, cavif_failure *_Nonnull failure);

/// Ends the decoding.
void cavif_close(cavif_sequence *_Nonnull sequence);

/// A still picture that is put together of tiles, and of its transparency.
typedef struct cavif_still cavif_still;

/// Where a tile lies, and on a canvas of which size.
typedef struct {
    int width, height;
    int left, top;
    bool is_alpha;
} cavif_tile;

/// Begins a picture; NULL without memory.
cavif_still *_Nullable cavif_still_new(void);

/// Decodes a file of one item and adds it to the picture: colours first, then transparency. The bytes have to stay until
/// `cavif_still_free`.
/// - Parameter pixels: the most that it may have; a larger one fails before it is decoded.
bool cavif_still_add(
    cavif_still *_Nonnull still, const uint8_t *_Nonnull bytes, size_t count, size_t pixels, cavif_tile place,
    cavif_failure *_Nonnull failure);

/// A picture's planes as they are coded, of 8 bits a sample, or of 16 where `depth` is more.
typedef struct {
    int width, height, depth;
    /// 1 without colours, else 3; of how many columns and rows of the picture the second and third plane have one.
    int count, across, down;
    bool is_full_range;
    /// Code points (ITU-T H.273).
    int matrix, primaries, transfer;
    const uint8_t *_Nullable rows[3];
    size_t row_bytes[3];
} cavif_planes;

/// The planes of a picture whose parts have all been added. They stay until `cavif_still_free`.
cavif_planes cavif_still_planes(const cavif_still *_Nonnull still);

/// Converts the whole picture to RGB or RGBA, 8 bits a channel, straight, in the file's colours.
/// - Parameter pixels: `width × height × channels` bytes.
bool cavif_still_rgb(
    cavif_still *_Nonnull still, int channels, bool is_premultiplied, uint8_t *_Nonnull pixels,
    cavif_failure *_Nonnull failure);

/// Frees a picture.
void cavif_still_free(cavif_still *_Nonnull still);

/// Bytes that are written as they are, or none.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} cavif_block;

/// How a sequence is written.
typedef struct {
    int width, height;
    /// 3 RGB, 4 RGBA.
    int channels;
    /// 1 to 100.
    int quality;
    /// From 0 (fast) to 9.
    int effort;
    bool lossless, full_chroma;
    /// Metadata of the whole file.
    cavif_block exif, xmp, profile;
} cavif_encoding;

/// A sequence that is being written.
typedef struct cavif_encoder cavif_encoder;

/// Begins a file.
cavif_encoder *_Nullable cavif_encoder_new(cavif_encoding encoding, cavif_failure *_Nonnull failure);

/// Writes the next frame. Its duration is in milliseconds, at least 1.
bool cavif_encoder_add(
    cavif_encoder *_Nonnull encoder, const uint8_t *_Nonnull pixels, uint64_t duration,
    cavif_failure *_Nonnull failure);

/// The file; its bytes stay until `cavif_encoder_free`. NULL if it can't be written.
const uint8_t *_Nullable cavif_encoder_finish(
    cavif_encoder *_Nonnull encoder, size_t *_Nonnull count, cavif_failure *_Nonnull failure);

/// Ends the writing.
void cavif_encoder_free(cavif_encoder *_Nonnull encoder);

#endif
