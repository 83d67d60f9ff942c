"""What a server and its children use, by proc(5)."""
import os
import threading

TICK = 1 / os.sysconf("SC_CLK_TCK")


def tree(pid):
    """The process and all its descendants, with the fields of proc(5)'s stat after the name, which may hold spaces.

    They are found by their parents: the kernel's list of children may lack some while another one ends."""
    left = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            left[name] = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, generation = {}, [str(pid)]
    while generation:
        found.update((name, left.pop(name)) for name in generation if name in left)
        # Field 4 is the parent.
        generation = [name for name, fields in left.items() if fields[1] in found]
    return found


def cpu(pid):
    """The CPU time of the process and all its descendants so far, in seconds; of those that have ended too."""
    earlier, processes = None, tree(pid)
    # A process that ends between two readings would count twice, or not at all.
    while earlier is None or earlier.keys() != processes.keys():
        earlier, processes = processes, tree(pid)
    # Fields 14 to 17.
    return sum(int(field) for fields in processes.values() for field in fields[11:15]) * TICK


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
