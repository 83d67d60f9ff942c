#ifdef LINUX
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "CSandbox.h"

int csandbox_channel(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
}

int csandbox_memory(const char *name, size_t count) {
    int memory = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -errno;
    // Without the seals, shrinking the memory would end the other process by SIGBUS.
    if (ftruncate(memory, (off_t)count) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return memory;
    int error = errno;
    close(memory);
    return -error;
}

int csandbox_seal_writing(int memory) {
    enum { SEAL_FUTURE_WRITE = 0x10 };
    return fcntl(memory, F_ADD_SEALS, SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0 ? 0 : errno;
}

int csandbox_receive(int channel, void *message, size_t count, int milliseconds) {
    // MSG_TRUNC returns the message's real size. Without a limit of time, the call that waits is the only one.
    int flags = MSG_TRUNC | (milliseconds < 0 ? 0 : MSG_DONTWAIT);
    for (;;) {
        ssize_t received = recv(channel, message, count, flags);
        if (received == 0) return EPIPE;
        if (received > 0) return (size_t)received == count ? 0 : EBADMSG;
        if (errno == ECONNRESET) return EPIPE;
        if (errno == EINTR) continue;
        if (errno != EAGAIN || milliseconds == 0) return errno;
        struct pollfd wait = {.fd = channel, .events = POLLIN};
        int ready = poll(&wait, 1, milliseconds);
        if (ready == 0 || (ready < 0 && errno == EINTR)) return EAGAIN;
        if (ready < 0) return errno;
    }
}

int csandbox_receive_soon(int channel, void *message, size_t count, int milliseconds, int attempts) {
    for (int attempt = 0; attempt < attempts; attempt++) {
        int status = csandbox_receive(channel, message, count, 0);
        if (status != EAGAIN) return status;
        // On a busy machine the other process gets the processor.
        sched_yield();
    }
    return csandbox_receive(channel, message, count, milliseconds);
}

int csandbox_send(int channel, const void *message, size_t count) {
    ssize_t sent;
    do sent = send(channel, message, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)count ? 0 : sent < 0 ? errno : EMSGSIZE;
}

int csandbox_kill(int pidfd) { return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 ? 0 : errno; }

int64_t csandbox_used_time(int process) {
    // The kernel's number of the clock. clock_getcpuclockid would ask the kernel for the same.
    clockid_t clock = (clockid_t)(~(uint32_t)process << 3 | 2);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

bool csandbox_has_ended(int pidfd, int milliseconds) {
    struct pollfd wait = {.fd = pidfd, .events = POLLIN};
    int ready;
    do ready = poll(&wait, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}
#endif
