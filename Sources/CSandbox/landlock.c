#ifdef LINUX
#define _GNU_SOURCE
#include <linux/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measures.h"

// Debian 12's headers describe an older Landlock than newer kernels have, so the structure is repeated here, as in
// linux/landlock.h of 6.12. The numbers of the calls are the same on all architectures.
struct landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, ASK_VERSION = 1 };

/// The accesses to files that a version of Landlock knows.
static uint64_t landlock_files(int version) {
    int count = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (UINT64_C(1) << count) - 1;
}

int32_t confine_by_landlock(int32_t wanted) {
    int version = (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return 0;
    int32_t known = CSANDBOX_NO_FILES;
    struct landlock_rules rules = {0};
    size_t size = sizeof rules.files;
    if (version >= 4) {
        size += sizeof rules.network;
        known |= CSANDBOX_NO_TCP;
    }
    if (version >= 6) {
        size += sizeof rules.scopes;
        known |= CSANDBOX_SCOPED;
    }
    int32_t measures = wanted & known;
    if (measures & CSANDBOX_NO_FILES) rules.files = landlock_files(version);
    // Binding and connecting.
    if (measures & CSANDBOX_NO_TCP) rules.network = 3;
    // Abstract sockets and signals.
    if (measures & CSANDBOX_SCOPED) rules.scopes = 3;
    int ruleset = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (ruleset < 0) return 0;
    bool is_confined = syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    return is_confined ? measures : 0;
}
#endif
