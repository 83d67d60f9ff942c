#!/usr/bin/env python3
"""Asks for 100 pictures by 1,000 requests at once, and meanwhile for a cached result at a constant rate, whether or not the
earlier ones have been answered.

  Scripts/load.py PORT CACHED PID LIMIT [WIDTH]    the server's port, the path of a cached result, the server's process, the
                                                   most milliseconds of the 99th percentile, the least width of the pictures
"""
import asyncio
import multiprocessing
import os
import sys
import time

from processes import Peak, memory

port, cached, pid, limit = int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
width = int(sys.argv[5]) if len(sys.argv) > 5 else 300
RATE = 200


async def ask(path, connection=None):
    """Returns the status, and a connection to use again."""
    reader, writer = connection or await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(head.split()[1]), (reader, writer)


async def flood():
    paths = [f"/thumb/{width + index}x200,cover/pattern-{index:03}.{extension(index)}" for index in range(100)]
    opening = asyncio.Semaphore(100)

    async def opened():
        async with opening:
            return await asyncio.open_connection("127.0.0.1", port)

    connections = await asyncio.gather(*(opened() for _ in range(1000)))
    first = time.perf_counter()
    answers = await asyncio.gather(*map(ask, paths * 10, connections))
    return first, [status for status, _ in answers]


def extension(number):
    return "webp" if number % 7 == 6 else "png" if number % 5 == 4 else "jpg"


async def constant_rate(times, ready, end):
    free = [(await ask(cached))[1] for _ in range(64)]
    ready.set()

    async def one(due):
        connection = free.pop() if free else None
        status, connection = await ask(cached, connection)
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


def measure(queue, ready, end):
    times = []
    asyncio.run(constant_rate(times, ready, end))
    queue.put(times)


def percentile(times, percent):
    return sorted(times)[len(times) * percent // 100] * 1e3 if times else 0


queue, ready, end = multiprocessing.Queue(), multiprocessing.Event(), multiprocessing.Event()
process = multiprocessing.Process(target=measure, args=(queue, ready, end), daemon=True)
process.start()
ready.wait(30)
time.sleep(1)
load = os.getloadavg()[0]
with Peak(pid) as peak:
    first, statuses = asyncio.run(flood())
    last = time.perf_counter()
end.set()
times = queue.get()
process.join()
counts = {status: statuses.count(status) for status in sorted(set(statuses))}
during = [took for due, took in times if first <= due <= last]
before = [took for due, took in times if due < first]
print(f"1,000 requests for 100 pictures in {last - first:.2f} s: {counts}; load of the machine before: {load:.1f}")
print(f"{len(during)} cached results meanwhile, {RATE} a second: p50 {percentile(during, 50):.1f} ms, p99 {percentile(during, 99):.1f} ms "
      f"(before: {percentile(before, 50):.1f} and {percentile(before, 99):.1f})")
print(f"memory with the processes that decode: {peak.most:.0f} MB at most, {memory(pid):.0f} MB now")
sys.exit(set(counts) - {200, 503} != set() or percentile(during, 99) > limit)
