#!/usr/bin/env python3
"""Asks for 100 pictures by 1,000 requests at once, and meanwhile for a cached result at a constant rate, whether or not the
earlier ones have been answered, in rounds.

  load.py ROUNDS LIMIT CACHED NAME=PORT=PID…    the most milliseconds of the 99th percentile of the first server; the path of a
                                                cached result; the servers

The percentile is that of all rounds together: one round has some 90 cached results. Of the first server, each round asks for
pictures of another height. A second one is only to compare with: a route that answers every path at once shows how long the
framework and this client take on this machine. The limit is the second one's percentile where that is larger.
"""
import asyncio
import multiprocessing
import os
import sys
import time

from pictures import pattern
from processes import Peak

rounds, limit, cached = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
servers = [server.split("=") for server in sys.argv[4:]]
RATE = 200


async def ask(port, path, connection=None):
    """Returns the status, and a connection to use again."""
    reader, writer = connection or await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(head.split()[1]), (reader, writer)


async def flood(port, height):
    paths = [f"/thumb/{300 + index}x{height},cover/{pattern(index)}" for index in range(100)]
    opening = asyncio.Semaphore(100)

    async def opened():
        async with opening:
            return await asyncio.open_connection("127.0.0.1", port)

    connections = await asyncio.gather(*(opened() for _ in range(1000)))
    first = time.perf_counter()
    answers = await asyncio.gather(*(ask(port, path, connection) for path, connection in zip(paths * 10, connections)))
    last = time.perf_counter()
    for _, (_, writer) in answers:
        writer.close()
    return first, last, [status for status, _ in answers]


async def constant_rate(port, times, ready, end):
    free = [(await ask(port, cached))[1] for _ in range(64)]
    ready.set()

    async def one(due):
        connection = free.pop() if free else None
        status, connection = await ask(port, cached, connection)
        assert status == 200
        times.append((due, time.perf_counter() - due))
        free.append(connection)

    tasks, start = [], time.perf_counter()
    while not end.is_set():
        due = start + len(tasks) / RATE
        await asyncio.sleep(max(0, due - time.perf_counter()))
        # Counted from when it should have been sent: a client that is late counts as well.
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)


def measure(port, queue, ready, end):
    # What counts is how long the server takes, not how long this waits for a processor behind the client of the thousand.
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    times = []
    asyncio.run(constant_rate(port, times, ready, end))
    queue.put(times)


def percentile(times, percent):
    return sorted(times)[min(len(times) * percent // 100, len(times) - 1)] * 1e3 if times else 0


def run(name, port, pid, height):
    """Prints a round, and returns how long each cached result took meanwhile."""
    queue, ready, end = multiprocessing.Queue(), multiprocessing.Event(), multiprocessing.Event()
    process = multiprocessing.Process(target=measure, args=(port, queue, ready, end), daemon=True)
    process.start()
    ready.wait(30)
    time.sleep(1)
    with Peak(pid, 0.1) as peak:
        first, last, statuses = asyncio.run(flood(port, height))
    end.set()
    times = queue.get()
    process.join()
    counts = {status: statuses.count(status) for status in sorted(set(statuses))}
    if set(counts) - {200, 503}:
        sys.exit(f"{name}: {counts}")
    during = [took for due, took in times if first <= due <= last]
    before = [took for due, took in times if due < first]
    print(f"{name}: 1,000 requests in {last - first:.2f} s: {counts}; {len(during)} cached results meanwhile: "
          f"p50 {percentile(during, 50):.1f} ms, the slowest {percentile(during, 100):.1f} ms "
          f"(before: {percentile(before, 50):.1f} and {percentile(before, 100):.1f}); memory {peak.most:.0f} MB at most")
    return during


print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
found = {name: [] for name, *_ in servers}
for round in range(rounds):
    for name, port, pid in servers:
        found[name] += run(name, int(port), pid, 200 + round)
for name, times in found.items():
    print(f"{name}: of {len(times)} cached results p50 {percentile(times, 50):.1f} ms, p99 {percentile(times, 99):.1f} ms")
slowest = [percentile(times, 99) for times in found.values()]
sys.exit(slowest[0] > max(limit, *slowest[1:], 0))
