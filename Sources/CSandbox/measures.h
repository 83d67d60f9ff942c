/// The single measures, for `csandbox_confine` and the fork server.
#ifndef MEASURES_H
#define MEASURES_H

#include <sys/resource.h>

#include "CSandbox.h"

/// Lets all system calls fail that decoders don't need, in this process and for good. Needs "no new privileges" or root.
bool filter_calls(void);

/// Forbids files, and on newer kernels TCP and reaching other processes, as far as these measures are wanted. Returns those
/// in force.
int32_t confine_by_landlock(int32_t wanted);

/// Limits a resource, or keeps the inherited limit if that is lower: nobody may raise it again.
bool limit(int resource, uint64_t value);

/// Limits memory, processor time and core files.
bool set_limits(csandbox_plan plan);

/// Turns a process of root into one of nobody, in no group. Returns whether the process isn't root's now.
bool give_up_root(void);

/// Drops all capabilities.
bool drop_capabilities(void);

/// Lets the kernel ask whenever this process, a worker, starts a thread. Returns the descriptor of the questions, which
/// another process answers; -1 if the system has no such questions or hides the numbers of threads.
int ask_about_threads(void);

/// The one argument of a program that is its own fork server.
extern const char diverting_argument[];

/// Answers one of these questions.
void answer_about_thread(int questions);

#endif
