#!/usr/bin/env python3
"""Has three servers make thumbnails of the same JPEG files, and prints what that takes: this one, thumbor, and nginx with
image_filter. Each reads the files of a folder, writes JPEG at quality 80, and keeps its results: this one in memory, thumbor in
files, nginx in its cache in front of the filter. thumbor runs as it comes, with one process, and with two, of which the kernel
gives one most of the connections in some rounds and half of them in others.

  peers.py BINARY PICTURES RUN [--smoke]    the server's program, the gallery's folder, a folder for this run

Cold: each thumbnail is asked for once, by 8 connections. Warm: all of them over and over, by wrk. The memory is that of all
processes, with what they share counted once. PSNR compares with Pillow's Lanczos of the whole picture at the result's size,
which is also how thumbor scales.
"""
import asyncio
import io
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

import numpy
from PIL import Image

from processes import Peak, cpu

binary, pictures, run = sys.argv[1:4]
isSmoke = "--smoke" in sys.argv
# Many files, so that the beginning and the end of a round count little.
PHOTOGRAPHS, PATTERNS, COPIES, ROUNDS, SECONDS = (1, 4, 1, 1, 1) if isSmoke else (36, 60, 3, 5, 2)
folder = os.path.join(run, "set")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def image_server(port, state):
    command = [binary, "--port", str(port), "--unsigned", "--rate", "0", "--folder", folder, "--cache", f"{state}/cache", "--quality", "80"]
    return command, "/thumb/400x300/{}"


def thumbor(port, state, processes=1):
    with open(f"{state}/thumbor.conf", "w") as file:
        file.write(f"LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = {folder!r}\nSTORAGE = 'thumbor.storages.no_storage'\n"
                   f"RESULT_STORAGE = 'thumbor.result_storages.file_storage'\nRESULT_STORAGE_FILE_STORAGE_ROOT_PATH = '{state}/results'\n"
                   "RESULT_STORAGE_STORES_UNSAFE = True\nQUALITY = 80\n")
    command = [os.path.join(os.path.dirname(sys.executable), "thumbor"), "--port", str(port), "--ip", "127.0.0.1", "--processes", str(processes),
               "--conf", f"{state}/thumbor.conf", "--log-level", "error"]
    return command, "/unsafe/fit-in/400x300/{}"


def two_thumbors(port, state):
    return thumbor(port, state, 2)


def nginx(port, state):
    back = free_port()
    places = "".join(f"{name}_temp_path {state}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{state}/nginx.conf", "w") as file:
        file.write(f"""load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;
            worker_processes 2; daemon off; pid {state}/pid; error_log {state}/log; events {{}}
            http {{ access_log off; {places} proxy_cache_path {state}/cache keys_zone=all:10m use_temp_path=off;
            server {{ listen 127.0.0.1:{port}; keepalive_requests 1000000;
                location / {{ proxy_pass http://127.0.0.1:{back}; proxy_cache all; proxy_cache_valid 200 1h; }} }}
            server {{ listen 127.0.0.1:{back}; root {folder}; types {{ image/jpeg jpg; }}
                location / {{ image_filter resize 400 300; image_filter_jpeg_quality 80; image_filter_buffer 64M; }} }} }}""")
    return ["nginx", "-c", f"{state}/nginx.conf", "-e", f"{state}/log"], "/{}"


async def ask_all(port, paths):
    """The bodies of all paths, by 8 connections."""
    left, bodies = list(enumerate(paths)), {}

    async def connection():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while left:
            index, path = left.pop(0)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if " 200 " not in head.split("\r\n")[0]:
                sys.exit(f"{path}: {head.splitlines()[0]}")
            bodies[index] = await reader.readexactly(int(re.search(r"(?i)content-length: *(\d+)", head)[1]))

    await asyncio.gather(*(connection() for _ in range(8)))
    return [bodies[index] for index in range(len(paths))]


def psnr(body, name):
    shown = Image.open(io.BytesIO(body)).convert("RGB")
    wanted = Image.open(os.path.join(folder, name)).convert("RGB").resize(shown.size, Image.Resampling.LANCZOS)
    error = numpy.square(numpy.asarray(shown, dtype=float) - numpy.asarray(wanted, dtype=float)).mean()
    return 10 * numpy.log10(255 * 255 / error)


def measure(name, make, names, results):
    state = os.path.join(run, f"{make.__name__}-{len(results['cold'])}")
    os.mkdir(state)
    port = free_port()
    command, path = make(port, state)
    paths = [path.format(name) for name in names]
    with open(f"{state}/output", "w") as output:
        # A group of its own: thumbor doesn't end its children.
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                # One that isn't measured: whatever is opened at first use is open then.
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path.format('first.jpg')}").read()
                break
            except OSError as error:
                if time.monotonic() > until or process.poll() is not None:
                    sys.exit(f"{name}: {error}\n{open(f'{state}/output').read()}")
                time.sleep(0.1)
        with Peak(process.pid, 0.25) as peak:
            before, start = cpu(process.pid), time.perf_counter()
            bodies = asyncio.run(ask_all(port, paths))
            took = time.perf_counter() - start
            used = cpu(process.pid) - before
        results["cold"].append(len(paths) / took)
        results["cpu"].append(used * 1e3 / len(paths))
        results["memory"].append(peak.most)
        if not results["psnr"]:
            results["psnr"].append(statistics.mean(psnr(body, name) for body, name in zip(bodies, names)))
        results["bytes"].append(statistics.mean(map(len, bodies)))
        with open(f"{state}/paths.lua", "w") as script:
            script.write("local paths, last = {%s}, 0\nfunction request() last = last %% #paths + 1; return wrk.format(nil, paths[last]) end\n"
                         % ", ".join(f'"{path}"' for path in paths))
        output = subprocess.run(["wrk", "--threads", "1", "--connections", "8", "--duration", f"{SECONDS}s", "--script", f"{state}/paths.lua",
                                 f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output:
            sys.exit(f"{name}: {output}")
        results["warm"].append(float(re.search(r"Requests/sec: +([\d.]+)", output)[1]))
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


os.mkdir(folder)
photograph = os.path.join(pictures, "photo-12mp-baseline-420.jpg")
names = [f"photo-{number:02}.jpg" for number in range(PHOTOGRAPHS)]
for name in names + ["first.jpg"]:
    shutil.copy(photograph, os.path.join(folder, name))
for name in [name for name in sorted(os.listdir(pictures)) if name.startswith("pattern-") and name.endswith(".jpg")][:PATTERNS]:
    for number in range(COPIES):
        names.append(f"{number}-{name}")
        shutil.copy(os.path.join(pictures, name), os.path.join(folder, names[-1]))
subprocess.run(["chmod", "-R", "a+rX", run], check=True)
servers = {"image server": image_server, "thumbor": thumbor, "thumbor, 2 processes": two_thumbors, "nginx": nginx}
results = {name: {key: [] for key in ("cold", "warm", "cpu", "memory", "psnr", "bytes")} for name in servers}
print(f"{PHOTOGRAPHS} photographs of 12 MP and {len(names) - PHOTOGRAPHS} pictures of 0.8 MP, to 400×300; load of the machine before: {os.getloadavg()[0]:.1f}")
for _ in range(ROUNDS):
    for name, make in servers.items():
        measure(name, make, names, results[name])
median = {name: {key: statistics.median(values) for key, values in result.items()} for name, result in results.items()}
print("| Server | Cold, images/s | Warm, requests/s | CPU an image, ms | Peak memory, MB | PSNR, dB | Bytes |")
print("|---|--:|--:|--:|--:|--:|--:|")
for name, row in median.items():
    print(f"| {name} | {row['cold']:.1f} | {row['warm']:.0f} | {row['cpu']:.1f} | {row['memory']:.0f} | {row['psnr']:.1f} | {row['bytes']:.0f} |")
ratio = {}
for name in ("thumbor", "thumbor, 2 processes"):
    ratios = [a / b for a, b in zip(results["image server"]["cold"], results[name]["cold"])]
    ratio[name] = statistics.median(ratios)
    print(f"cold, {ratio[name]:.1f} times the rate of {name} (rounds: {', '.join(f'{one:.1f}' for one in ratios)}), "
          f"and {median[name]['cpu'] / median['image server']['cpu']:.1f} times less CPU time")
sys.exit(not isSmoke and ratio["thumbor"] < 3)
