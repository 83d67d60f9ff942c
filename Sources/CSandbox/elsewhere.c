#ifndef LINUX
#include <errno.h>

#include "CSandbox.h"

// No process is confined, and none is started.
bool csandbox_is_available(void) { return false; }

int32_t csandbox_confine(csandbox_plan plan, int channel) {
    (void)plan, (void)channel;
    return 0;
}

void csandbox_clear_stack(void) {}

uint64_t csandbox_refused_calls(int *last) {
    *last = 0;
    return 0;
}

void csandbox_settle_malloc(void) {}

bool csandbox_serve(int control, csandbox_worker *worker, csandbox_prepare prepare, void *context) {
    (void)control, (void)worker, (void)prepare, (void)context;
    return false;
}

bool csandbox_has_one_thread(void) { return true; }

int csandbox_request_worker(int control, csandbox_worker worker, csandbox_process *process) {
    (void)control, (void)worker, (void)process;
    return ENOSYS;
}

int64_t csandbox_used_time(int process) {
    (void)process;
    return 0;
}

bool csandbox_can_divert(void) { return false; }

int csandbox_spawn(const char *path, int *process, int *control) {
    (void)path, (void)process, (void)control;
    return ENOSYS;
}

int csandbox_channel(int ends[2]) {
    (void)ends;
    return ENOSYS;
}

int csandbox_memory(const char *name, size_t count) {
    (void)name, (void)count;
    return -ENOSYS;
}

int csandbox_seal_writing(int memory) {
    (void)memory;
    return ENOSYS;
}

int csandbox_receive(int channel, void *message, size_t count, int milliseconds) {
    (void)channel, (void)message, (void)count, (void)milliseconds;
    return ENOSYS;
}

int csandbox_receive_soon(int channel, void *message, size_t count, int milliseconds, int attempts) {
    (void)channel, (void)message, (void)count, (void)milliseconds, (void)attempts;
    return ENOSYS;
}

int csandbox_send(int channel, const void *message, size_t count) {
    (void)channel, (void)message, (void)count;
    return ENOSYS;
}

int csandbox_kill(int pidfd) {
    (void)pidfd;
    return ENOSYS;
}

bool csandbox_has_ended(int pidfd, int milliseconds) {
    (void)pidfd, (void)milliseconds;
    return false;
}
#endif
