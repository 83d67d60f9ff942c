#ifndef FILTER_H
#define FILTER_H

#include "CSandbox.h"

/// Lets all system calls fail that decoders don't need, in this process and for good. Needs "no new privileges" or root.
bool filter_calls(void);

#endif
