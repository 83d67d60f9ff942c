"""Times lookups in Python's diskcache: FOLDER BODIES BYTES-EACH. Prints microseconds, one a line."""

import sys
import time

import diskcache

folder, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with diskcache.Cache(folder, size_limit=20_000_000_000) as cache:
    for number in range(count):
        cache[f"https://images.example.com/{number}.jpg"] = bytes([number % 256]) * size
    for call in range(4200):
        key = f"https://images.example.com/{call % count}.jpg"
        start = time.perf_counter_ns()
        body = cache[key]
        passed = time.perf_counter_ns() - start
        assert len(body) == size
        if call >= 200:
            print(passed / 1000)
