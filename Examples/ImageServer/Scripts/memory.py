#!/usr/bin/env python3
"""Asks for pictures of all kinds, and prints the memory of the server over time; see Scripts/memory.

  Scripts/memory.py PORT PID FOLDER MINUTES SUM
"""
import http.client
import os
import random
import statistics
import sys
import threading
import time
import urllib.parse

from processes import memory

port, pid, folder, minutes, total = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
names = [urllib.parse.quote(name) for name in sorted(os.listdir(folder))]
photograph = "photo-12mp-baseline-420.jpg"
formats = ["jpg", "png", "webp", "avif", "gif", "tif"]
end, done, failed = time.monotonic() + minutes * 60, [0], []


def path():
    name = random.choice(names)
    kind = random.random()
    if kind < 0.3:  # What most requests ask for: few sizes of everything.
        return f"/thumb/{random.choice(['320x240,cover', '640x', '200x200,cover'])}/{name}"
    if kind < 0.5:
        scale = random.choice([1, 2, 4])
        x, y = random.randrange(0, 3000 // (512 * scale) + 1) * 512 * scale, random.randrange(0, 2000 // (512 * scale) + 1) * 512 * scale
        return f"/iiif/{photograph}/{x},{y},{512 * scale},{512 * scale}/!512,512/0/default.jpg"
    options = [f"{random.randint(16, 1500)}x{random.randint(16, 1500)}", random.choice(["inside", "cover", "contain", "fill"]),
               f"format={random.choice(formats)}", f"q={random.randint(40, 95)}"]
    options += random.sample([f"blur={random.randint(1, 8)}", "sharpen=1", f"rotate={random.choice([90, 180, 270])}", "grey", "mirror"],
                             random.choice([0, 0, 1, 2]))
    return f"/thumb/{','.join(options)}/{name}"


def ask():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while time.monotonic() < end:
        wanted = path()
        try:
            connection.request("GET", wanted)
            response = connection.getresponse()
            response.read()
        except OSError as error:
            return failed.append(f"{wanted}: {error}")
        # A tile below the photograph's edge, or a source that isn't a picture.
        if response.status not in (200, 400, 415, 422, 503):
            failed.append(f"{wanted}: {response.status}")
        done[0] += 1


clients = [threading.Thread(target=ask) for _ in range(6)]
for client in clients:
    client.start()
samples = []
while any(client.is_alive() for client in clients):
    time.sleep(min(5, minutes * 60 / 60))
    samples.append(memory(pid))
    if len(samples) % 12 == 0:
        print(f"{minutes + (time.monotonic() - end) / 60:5.1f} min {done[0]:7} results {samples[-1]:6.0f} MB", flush=True)
time.sleep(8)
idle = memory(pid)
part = max(1, len(samples) // 10)
last, before = statistics.mean(samples[-part:]), statistics.mean(samples[-3 * part:-2 * part] or samples)
ratio = max(samples) * 1024 * 1024 / total
print(f"{done[0]} requests, {len(failed)} failed; most {max(samples):.0f} MB, the sum of the settings {total / 1024 / 1024:.0f} MB: {ratio:.2f}")
print(f"the last tenth {last:.0f} MB, the tenth two before {before:.0f} MB; idle for 8 s {idle:.0f} MB")
print("\n".join(failed[:5]))
sys.exit(bool(failed) or ratio > 1.3 or last > 1.05 * before)
