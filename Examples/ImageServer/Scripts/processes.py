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


def cpu(pid):
    """The CPU time of the processes so far, in seconds; of children that have ended too."""
    total = 0
    for process in tree(pid):
        try:
            # After the name, which may hold spaces: fields 14 to 17.
            fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(field) for field in fields[11:15])
    return total * TICK


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
    """Samples the memory of the processes every 50 ms, in `with`."""

    def __init__(self, pid):
        self.pid, self.most, self.end = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)

    def sample(self):
        while not self.end.is_set():
            self.most = max(self.most, memory(self.pid))
            self.end.wait(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
