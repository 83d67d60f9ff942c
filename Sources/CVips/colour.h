/// Conversion of any colours to 8 bits a channel, in sRGB unless a profile is pending.
#ifndef COLOUR_H
#define COLOUR_H

#include "library.h"

/// Replaces `*image` with one of 1, 3 or 4 channels of 8 bits: grey, RGB or RGBA. If `*profile_pending` becomes true,
/// they are still in the embedded profile's colours. Returns false if libvips can't convert them.
bool to_eight_bits(VipsImage **image, bool *profile_pending);

/// Whether the image has an ICC profile.
bool has_profile(VipsImage *image);

#endif
