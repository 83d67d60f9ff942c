#!/usr/bin/env python3
"""Measures what a gain map costs: the processor's time and the peak memory of pipectl with the map and without.

    Scripts/gain-map-cost.py PIPECTL FOLDER [BEFORE]    FOLDER is for files; BEFORE is another pipectl to compare with

A JPEG of 12 megapixels has a map of a quarter of its sides, as phones write it. Each line is the least of nine runs, which
take turns, in one process.
"""

import pathlib
import subprocess
import sys

import imagecodecs
import numpy
from PIL import Image

pipectl, folder = sys.argv[1], pathlib.Path(sys.argv[2])
others = sys.argv[3:]
ROUNDS = 9
SIZE = (4032, 3024)
photograph = pathlib.Path(__file__).parent.parent / "Tests/Images/good/jpeg-exif-xmp-icc.jpg"
levels = numpy.asarray(Image.open(photograph).convert("RGB").resize(SIZE, Image.LANCZOS)) / numpy.float32(255)
light = numpy.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
luminance = light @ numpy.float32([0.2126, 0.7152, 0.0722])
pixels = numpy.dstack([light * (1 + 8 * luminance**2)[..., None], numpy.ones(luminance.shape)]).astype(numpy.float16)
source, plain = folder / "source.jpg", folder / "plain.jpg"
source.write_bytes(bytes(imagecodecs.ultrahdr_encode(pixels, level=90, scale=4)))
data = source.read_bytes()
Image.open(source).save(plain, quality=90)


# A process's peak counts that of the one that starts it, so a small one does.
START = """
import os, sys
_, status, usage = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(status != 0)
"""


def run(program, *words):
    command = [sys.executable, "-I", "-S", "-c", START, program, "convert", "-y", "-q", "--no-isolate", *map(str, words)]
    time, memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(time), int(memory)


for size, name in ((800, "small.jpg"), (2400, "small.jpg"), (800, "small.avif"), (2400, "small.avif")):
    result = folder / name
    cases = {
        "dropped": (pipectl, source, result, "-s", size, "--gain-map", "drop"),
        "kept": (pipectl, source, result, "-s", size),
        "SDR": (pipectl, plain, result, "-s", size),
    }
    if name.endswith("avif"):
        cases["applied"] = (pipectl, source, result, "-s", size, "--gain-map", "apply")
    if others:
        cases["SDR before"] = (others[0], plain, result, "-s", size)
    found = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for case, words in cases.items():
            found[case].append(run(*words))
    base = min(time for time, _ in found["dropped"])
    for case, runs in found.items():
        time, memory = min(time for time, _ in runs), min(memory for _, memory in runs)
        share = min(time for time, _ in found["SDR before"]) if case == "SDR" and others else base
        print(f"{name[6:].upper()}, {size} pixels, {case}: {1000 * time:.0f} ms, {time / share:.2f} times, {memory >> 10} MB")
