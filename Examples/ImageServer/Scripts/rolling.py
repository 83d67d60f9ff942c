#!/usr/bin/env python3
"""Sends requests through a proxy while the servers behind it are restarted in turn.

  Scripts/rolling.py REQUESTS PROXY PORT PORT -- COMMAND…    COMMAND ends with the folder of a cache

It fails if a response isn't a 200 with a whole picture, or if a server doesn't end with status 0.
"""
import http.client
import signal
import subprocess
import sys
import threading
import time

from pictures import pattern

least, proxy, ports, command = int(sys.argv[1]), int(sys.argv[2]), [int(port) for port in sys.argv[3:5]], sys.argv[6:]
folder = command.pop()


def started(port):
    server = subprocess.Popen(
        command + [f"{folder}-{port}", "--port", str(port)], stdout=subprocess.PIPE, text=True)
    if not server.stdout.readline().startswith("listening"):
        sys.exit("A server didn't start.")
    return server


failures, counts, isOver = [], [0] * 8, threading.Event()


def client(index):
    connection, number = http.client.HTTPConnection("127.0.0.1", proxy, timeout=30), index
    while not isOver.is_set():
        number += 7
        # Most are in memory, some are made now.
        width = 100 if number % 20 else 50 + number % 400
        path = f"/thumb/{width}x{width}/{pattern(number % 100)}"
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200 or len(body) != int(response.headers["Content-Length"]):
                failures.append(f"{path}: {response.status}")
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{path}: {error!r}")
            connection.close()
        counts[index] += 1


servers = [started(port) for port in ports]
clients = [threading.Thread(target=client, args=(index,)) for index in range(len(counts))]
restarts = 0
try:
    for thread in clients:
        thread.start()
    while restarts < 6 or sum(counts) < least:
        time.sleep(1)
        index = restarts % 2
        servers[index].send_signal(signal.SIGTERM)
        if servers[index].wait(timeout=60) != 0:
            failures.append(f"a server ended with {servers[index].returncode}")
        servers[index] = started(ports[index])
        restarts += 1
finally:
    isOver.set()
    for thread in clients:
        thread.join()
    for server in servers:
        server.kill()
print(f"{sum(counts)} requests during {restarts} restarts, {len(failures)} failed")
sys.exit("\n".join(failures[:10]) if failures else 0)
