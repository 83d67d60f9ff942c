// The program's arguments as the system passed them: arbitrary bytes, available without /proc.
#ifndef CARGUMENTS_H
#define CARGUMENTS_H

/// Returns the number of arguments, the program's name included; 0 if the system's loader passed none, -1 if the C library
/// doesn't tell.
int carguments_count(void);

/// Returns an argument. `index` must be below the count.
const char *carguments_value(int index);

#endif
