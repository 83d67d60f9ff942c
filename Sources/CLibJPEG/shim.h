// libjpeg's header needs this one before it.
#include <stdio.h>

#include <jpeglib.h>
