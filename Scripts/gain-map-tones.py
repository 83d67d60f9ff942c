#!/usr/bin/env python3
"""Compares the gain maps that pipectl applies with the files that libavif's own tests compare, within their limits.

    Scripts/gain-map-tones.py PIPECTL READER DATA FOLDER    READER is Scripts/gain-map-reader.c, which reads the files that
                                                            are expected; DATA is libavif's tests/data; FOLDER is for files

As there, luma and chroma are compared, by the matrix of BT.601. HDR is compared in PQ with the primaries of BT.709, which
the files have.
"""

import pathlib
import subprocess
import sys

import imagecodecs
import numpy

pipectl, reader, data, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
# A file, how it is converted, the expected file, the least ratio of signal to noise, and whether the result is in BT.2020.
CASES = (
    ("seine_sdr_gainmap_srgb.avif", ["--gain-map", "drop"], "seine_sdr_gainmap_srgb.avif", 53.5, False),
    ("seine_sdr_gainmap_srgb.avif", ["--gain-map", "apply"], "seine_hdr_srgb.avif", 40, True),
    ("seine_sdr_gainmap_big_srgb.avif", ["--gain-map", "apply"], "seine_hdr_srgb.avif", 40, True),
    ("seine_hdr_gainmap_srgb.avif", ["--gamut", "srgb"], "seine_sdr_gainmap_srgb.avif", 38, False),
    ("seine_hdr_gainmap_small_srgb.avif", ["--gamut", "srgb"], "seine_sdr_gainmap_srgb.avif", 36, False),
    ("seine_hdr_gainmap_srgb.avif", [], "seine_hdr_gainmap_srgb.avif", 60, False),
)
FROM_2020 = numpy.array([[1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349], [-0.018151, -0.100579, 1.118730]])


def light(levels):
    root = numpy.clip(levels, 0, 1) ** (1 / 78.84375)
    return (numpy.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)


def pq(light):
    root = numpy.clip(light, 0, 1) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root)) ** 78.84375


def luma_and_chroma(colors):
    luma = colors @ [0.299, 0.587, 0.114]
    return numpy.stack([luma, (colors[..., 2] - luma) / 1.772, (colors[..., 0] - luma) / 1.402], -1)


failures = 0
for source, options, expected, least, is_wide in CASES:
    made = folder / "made.png"
    subprocess.run([pipectl, "convert", "-y", "-q", data / source, made, *options], check=True)
    levels = imagecodecs.png_decode(made.read_bytes())
    levels = levels / (65535 if levels.dtype == numpy.uint16 else 255)
    if is_wide:
        levels = pq(light(levels) @ FROM_2020.T)
    subprocess.run([reader, data / expected, "-", folder / "expected"], check=True, capture_output=True)
    wanted = numpy.fromfile(folder / "expected", numpy.uint16).reshape(levels.shape) / 65535
    signal = -10 * numpy.log10(numpy.mean((luma_and_chroma(levels) - luma_and_chroma(wanted)) ** 2) + 1e-12)
    failures += signal < least
    print(f"{source} {' '.join(options)}: {signal:.1f} dB to {expected}, at least {least}")
# Not a number of numpy, which sys.exit would print.
sys.exit(int(failures > 0))
