#!/usr/bin/env python3
"""Asks for 100 pictures by 1,000 requests at once, and meanwhile for a cached result at a constant rate, whether or not the
earlier ones have been answered.

  Scripts/load.py PORT CACHED PID    the server's port, the path of a cached result, the server's process
"""
import asyncio
import multiprocessing
import sys
import time

port, cached, pid = int(sys.argv[1]), sys.argv[2], sys.argv[3]
RATE, SECONDS = 200, 6


async def ask(path, connection=None):
    """Returns the status, and a connection to use again."""
    reader, writer = connection or await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(head.split()[1]), (reader, writer)


async def flood():
    paths = [f"/thumb/{300 + index}x200,cover/pattern-{index:03}.{extension(index)}" for index in range(100)]
    answers = await asyncio.gather(*(ask(path) for path in paths * 10))
    return [status for status, _ in answers]


def extension(number):
    return "webp" if number % 7 == 6 else "png" if number % 5 == 4 else "jpg"


async def constant_rate(times):
    free = [(await ask(cached))[1] for _ in range(64)]
    start = time.perf_counter() + 0.2

    async def one(due):
        connection = free.pop() if free else None
        status, connection = await ask(cached, connection)
        assert status == 200
        times.append((due, time.perf_counter() - due))
        free.append(connection)

    tasks = []
    for index in range(RATE * SECONDS):
        due = start + index / RATE
        await asyncio.sleep(max(0, due - time.perf_counter()))
        # Counted from when it should have been sent: a client that is late counts as well.
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)


def measure(queue):
    times = []
    asyncio.run(constant_rate(times))
    queue.put(times)


def memory(name):
    return int(next(line for line in open(f"/proc/{pid}/status") if line.startswith(name)).split()[1]) / 1024


queue = multiprocessing.Queue()
process = multiprocessing.Process(target=measure, args=(queue,))
process.start()
time.sleep(1.5)
begin = time.perf_counter()
statuses = asyncio.run(flood())
end = time.perf_counter()
times = queue.get()
process.join()
counts = {status: statuses.count(status) for status in sorted(set(statuses))}
during = sorted(took for due, took in times if begin <= due <= end)
everything = sorted(took for _, took in times)
print(f"1,000 requests for 100 pictures in {end - begin:.2f} s: {counts}")
print(f"cached results meanwhile, {RATE} a second: {len(during)} of them, p50 {during[len(during) // 2] * 1e3:.1f} ms, "
      f"p99 {during[len(during) * 99 // 100] * 1e3:.1f} ms; p99 of all {everything[len(everything) * 99 // 100] * 1e3:.1f} ms")
print(f"memory: {memory('VmRSS'):.0f} MB now, {memory('VmHWM'):.0f} MB at most")
sys.exit(set(counts) - {200, 503} != set() or during[len(during) * 99 // 100] > 0.025)
