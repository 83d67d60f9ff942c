/// Decodes the pixels of a coded picture with libheif.
///
/// libheif is loaded by the first call that needs it.
#ifndef CHEIF_H
#define CHEIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Why a call failed, on one line.
typedef struct {
    char message[240];
    /// Whether libheif doesn't support this kind of file, rather than it being damaged.
    bool is_unsupported;
} cheif_failure;

/// Whether libheif is available. If not, `failure` says why and what to install.
bool cheif_is_available(cheif_failure *_Nonnull failure);

/// A decoded picture: rows of RGB in the file's own colours. Any thread may read it.
typedef struct cheif_picture cheif_picture;

/// Decodes a file's primary picture in one go, which can't be stopped. libheif contains assertions about files, so the
/// bytes have to be checked before. They aren't needed afterwards.
/// - Parameter is_deep: Whether samples have 16 bits, low byte first, of which `cheif_bits` are used; otherwise 8.
cheif_picture *_Nullable cheif_decode(
    const uint8_t *_Nonnull bytes, size_t count, bool is_deep, cheif_failure *_Nonnull failure);

/// The size in pixels.
int cheif_width(const cheif_picture *_Nonnull picture);
int cheif_height(const cheif_picture *_Nonnull picture);

/// The bits of a sample, 16 at most.
int cheif_bits(const cheif_picture *_Nonnull picture);

/// A row, counted from the top.
const uint8_t *_Nonnull cheif_row(const cheif_picture *_Nonnull picture, int row);

/// Frees the picture.
void cheif_free(cheif_picture *_Nonnull picture);

#endif
