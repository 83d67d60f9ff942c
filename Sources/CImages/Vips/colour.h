/// From whatever a file holds to sRGB with 8 bits a channel.
#ifndef COLOUR_H
#define COLOUR_H

#include "library.h"

/// Takes `*image`, gives in its place one with 1, 3 or 4 channels of 8 bits: grey, RGB or RGBA. If `*profile_pending`
/// is then true, they are still in the embedded profile's colours. False if libvips knows no way.
bool to_eight_bits(VipsImage **image, bool *profile_pending);

/// Whether the image carries an ICC profile.
bool has_profile(VipsImage *image);

#endif
