/// What this package asks of libheif: the pixels of one coded picture.
///
/// libheif is loaded when the first of these calls needs it.
#ifndef CHEIF_H
#define CHEIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Why a call failed, on one line.
typedef struct {
    char message[240];
    /// Whether the file is of a kind that libheif doesn't decode, and not damaged.
    bool is_unsupported;
} cheif_failure;

/// A decoded picture: rows of RGB, 8 bits a channel, in the file's own colours. Any thread may read it.
typedef struct cheif_picture cheif_picture;

/// Decodes a file's primary picture, in one go: it can't be stopped. libheif asserts what it expects of a file, so the
/// bytes have to be a file that was checked before. They aren't needed afterwards.
cheif_picture *_Nullable cheif_decode(
    const uint8_t *_Nonnull bytes, size_t count, cheif_failure *_Nonnull failure);

/// The size in pixels.
int cheif_width(const cheif_picture *_Nonnull picture);
int cheif_height(const cheif_picture *_Nonnull picture);

/// A row, counted from the top.
const uint8_t *_Nonnull cheif_row(const cheif_picture *_Nonnull picture, int row);

/// Frees the picture.
void cheif_free(cheif_picture *_Nonnull picture);

#endif
