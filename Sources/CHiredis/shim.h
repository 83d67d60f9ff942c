#include <hiredis/hiredis.h>
// Wakes the thread that polls a connection. Swift's Glibc module leaves it out.
#include <sys/eventfd.h>
