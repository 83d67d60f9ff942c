/// HEVC as decoded by libde265, below libheif.
#ifndef HEVC_H
#define HEVC_H

/// Clears pictures before they are decoded, so that the missing part of a damaged one is green, not another load's
/// pixels.
void clear_hevc_pictures(void);

#endif
