"""What a server and its children use, by proc(5)."""
import os
import threading

TICK = 1 / os.sysconf("SC_CLK_TCK")


def tree(pid):
    """The process and all its descendants."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        children = [child for task in tasks for child in open(f"/proc/{pid}/task/{task}/children").read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [pid, *(process for child in children for process in tree(child))]


def stats():
    """The fields of proc(5)'s stat after the name, which may hold spaces, of all processes."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found[name] = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def cpu(pid):
    """The CPU time of the process and all its descendants so far, in seconds; of those that have ended too."""
    earlier, times = None, {}
    # A process that ends between two readings would count twice, or not at all; and while one ends, the list of children
    # may lack others. Fields 4 and 14 to 17 are the parent and the times.
    while earlier is None or earlier != times.keys():
        earlier, processes, times = times.keys(), stats(), {str(pid): 0}
        while True:
            found = [name for name, fields in processes.items() if fields[1] in times and name not in times]
            if not found:
                break
            times.update(dict.fromkeys(found, 0))
        for name in times:
            times[name] = sum(int(field) for field in processes[name][11:15]) if name in processes else 0
    return sum(times.values()) * TICK


def memory(pid):
    """The memory of the processes in MB. What several of them share counts once (PSS)."""
    total = 0
    for process in tree(pid):
        try:
            text = open(f"/proc/{process}/smaps_rollup").read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
    return total / 1024


class Peak:
    """Samples the memory of the processes, in `with`. A sample takes some milliseconds, in which the processes wait too."""

    def __init__(self, pid, interval):
        self.pid, self.interval, self.most, self.end = pid, interval, 0, threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)

    def sample(self):
        while not self.end.is_set():
            self.most = max(self.most, memory(self.pid))
            self.end.wait(self.interval)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
