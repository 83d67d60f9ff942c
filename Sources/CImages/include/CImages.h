// The C code of the codecs, with a folder and a header for each library and each task.

#include "CAVIF.h"
#include "CGIF.h"
#include "CHEIF.h"
#include "CJPEG.h"
#include "CJXL.h"
#include "CPNG.h"
#include "CPalette.h"
#include "CResample.h"
#include "CSVG.h"
#include "CTIFFReader.h"
#include "CTIFFWriter.h"
#include "CVips.h"
