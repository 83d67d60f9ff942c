#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

static int outcome(long result) { return result >= 0 ? 0 : errno; }

/// Asks the kernel itself: a sanitizer's own mmap ends the process that maps address 0.
static int map(void *place, size_t count, int protection, int flags) {
    long memory = syscall(SYS_mmap, place, count, protection, flags | MAP_ANONYMOUS, -1, 0);
    if (memory == -1) return errno;
    syscall(SYS_munmap, memory, count);
    return 0;
}

static const size_t much = (size_t)64 << 30;

int take_memory(void) { return map(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE); }
int take_addresses(void) { return map(NULL, much, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE); }
int map_shared(void) { return map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED); }
int map_growing(void) { return map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_GROWSDOWN); }
int map_huge(void) {
    return map(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_HUGETLB | MAP_NORESERVE);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *argument) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return argument;
}

int start_threads(void) {
    enum { COUNT = 1000 };
    pthread_t threads[COUNT];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    int started = 0, error = 0;
    pthread_mutex_lock(&gate);
    while (started < COUNT && !(error = pthread_create(&threads[started], &attributes, wait_at_gate, NULL))) started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return error;
}

static int end_thread(void *argument) {
    (void)argument;
    syscall(SYS_exit, 0);
    return 0;
}

int clone_namespace(void) {
    static char stack[1 << 16] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_NEWUTS;
    return outcome(clone(end_thread, stack + sizeof stack, flags, NULL));
}

int map_null(void) { return map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED); }

int be_root(void) { return geteuid() == 0 ? 0 : EPERM; }

int advise(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return outcome(madvise(page, 4096, MADV_DONTDUMP));
}

/// The clock of a process's processor time, as in the kernel.
static clockid_t clock_of(pid_t process) { return (clockid_t)(~(uint32_t)process << 3 | 2); }

int read_clock(void) {
    struct timespec time;
    return outcome(clock_gettime(clock_of(1), &time));
}
int sleep_by_clock(void) {
    struct timespec past = {0};
    return clock_nanosleep(clock_of(1), TIMER_ABSTIME, &past, NULL);
}
int read_affinity(void) {
    cpu_set_t processors;
    return outcome(sched_getaffinity(1, sizeof processors, &processors));
}
int read_load(void) {
    struct sysinfo load;
    return outcome(sysinfo(&load));
}
