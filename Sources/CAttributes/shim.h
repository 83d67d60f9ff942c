// Extended attributes of files, which Swift's module of the C library leaves out.
#include <sys/xattr.h>
