#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CEscapes.h"

/// Where memory may lie: the program with its heap, what is mapped later below what was mapped first, and the stack.
static uintptr_t program, first_mapping, last_mapping, stack_end;

enum { PAGE = 4096 };

void cescapes_remember_memory(void) {
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file) return;
    char line[512];
    bool is_heap_over = false;
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
        if (!program) program = start;
        if (strstr(line, "[stack]")) stack_end = end;
        if (stack_end) break;
        if (is_heap_over && !first_mapping) first_mapping = start;
        if (strstr(line, "[heap]")) is_heap_over = true;
        last_mapping = end;
    }
    fclose(file);
}

/// Asks the kernel to read signals from a page, for an action that it doesn't know.
static bool is_readable(uintptr_t page) {
    return syscall(SYS_rt_sigprocmask, 77, (const void *)page, NULL, 8) == 0 || errno != EFAULT;
}

static int count_in(uintptr_t start, uintptr_t end, const char *reversed) {
    size_t length = strlen(reversed);
    int count = 0;
    for (const char *place = (const char *)start; (uintptr_t)place + length <= end; place++) {
        place = memchr(place, reversed[length - 1], end - (uintptr_t)place - length + 1);
        if (!place) break;
        size_t same = 0;
        while (same < length && place[same] == reversed[length - 1 - same]) same++;
        count += same == length;
    }
    return count;
}

static int count_between(uintptr_t start, uintptr_t end, const char *reversed) {
    int count = 0;
    uintptr_t page = start / PAGE * PAGE;
    while (page < end) {
        uintptr_t first = page;
        while (page < end && is_readable(page)) page += PAGE;
        if (page > first) count += count_in(first, page, reversed);
        page += PAGE;
    }
    return count;
}

int cescapes_count(const char *reversed) {
    const uintptr_t later = 1 << 30, deep = 1 << 20;
    return count_between(program, (uintptr_t)sbrk(0), reversed)
        + count_between(first_mapping - later, last_mapping, reversed)
        + count_between((uintptr_t)__builtin_frame_address(0) - deep, stack_end, reversed);
}

unsigned long cescapes_random(void) {
    unsigned long random = 0;
    const void *bytes = (const void *)getauxval(AT_RANDOM);
    if (bytes) memcpy(&random, bytes, sizeof random);
    return random;
}

static void *compute(void *argument) {
    for (volatile unsigned long count = 0;; count++);
    return argument;
}

int cescapes_compute(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, compute, NULL);
}
