// The C code of the codecs that are always built, and of those that need no library, with a folder and a header for each.

#include "CGIF.h"
#include "CJPEG.h"
#include "CLibraryFile.h"
#include "CPNG.h"
#include "CPalette.h"
#include "CResample.h"
