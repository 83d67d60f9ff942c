/// HEVC, as libde265 decodes it below libheif.
#ifndef HEVC_H
#define HEVC_H

/// Has pictures begin as zeros, so that what a damaged bitstream leaves out is green instead of other loads' memory.
void clear_hevc_pictures(void);

#endif
