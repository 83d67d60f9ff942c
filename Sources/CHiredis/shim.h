#include <hiredis/hiredis.h>
#ifdef __linux__
// Wakes the thread that polls a connection. Swift's Glibc module leaves it out.
#include <sys/eventfd.h>
#endif
