#ifdef LINUX
#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measures.h"

/// Whether the process may signal processes of other users. Without this, the program couldn't end a worker of nobody's.
static bool may_kill_others(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    return syscall(SYS_capget, &header, data) == 0 && data[0].effective & 1U << CAP_KILL;
}

bool give_up_root(void) {
    enum { NOBODY = 65534 };
    uid_t real, effective, saved;
    if (getresuid(&real, &effective, &saved) != 0) return false;
    if (real != 0 && effective != 0 && saved != 0) return true;
    return may_kill_others() && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0
        && setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

bool drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    return syscall(SYS_capset, &header, none) == 0;
}
#endif
