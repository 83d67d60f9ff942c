#!/usr/bin/env python3
"""Compares the throughput of URLs that answer the same bytes, by wrk, in rounds: what else the machine does then counts alike.

  Scripts/throughput.py SECONDS ROUNDS LEAST NAME=PID=URL…    LEAST is the least ratio of the first to the second

It prints the requests a second and the CPU time of each server for a request, as medians of the rounds.
"""
import os
import re
import statistics
import subprocess
import sys

from processes import cpu

seconds, rounds, least = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
servers = [server.split("=", 2) for server in sys.argv[4:]]
rates, costs = {name: [] for name, *_ in servers}, {name: [] for name, *_ in servers}
print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
for _ in range(rounds):
    for name, pid, url in servers:
        before = cpu(pid)
        output = subprocess.run(["wrk", "--threads", "1", "--connections", "16", "--duration", seconds + "s", url],
                                capture_output=True, text=True, check=True).stdout
        used = cpu(pid) - before
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(f"{name} failed:\n{output}")
        rates[name].append(float(re.search(r"Requests/sec: +([\d.]+)", output)[1]))
        costs[name].append(used * 1e6 / int(re.search(r"(\d+) requests in", output)[1]))
for name, *_ in servers:
    print(f"{name:12} {statistics.median(rates[name]):7.0f} requests a second, {statistics.median(costs[name]):5.1f} µs of CPU each")
first, second = servers[0][0], servers[1][0]
ratio = statistics.median(a / b for a, b in zip(rates[first], rates[second]))
print(f"{first} has {ratio:.2f} of the rate of {second}, and takes {statistics.median(costs[first]) / statistics.median(costs[second]):.2f} of its CPU time")
sys.exit(ratio < least)
