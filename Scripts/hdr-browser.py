#!/usr/bin/env python3
"""Has Chromium show HDR that pipectl writes, and the same of libavif's tests: PNG by `cICP`, AVIF, and gain maps in both kinds.

    Scripts/hdr-browser.py PIPECTL DATA FOLDER    DATA is libavif's tests/data; FOLDER is for files

On a display without headroom, Chromium maps the tones of PQ, and shows the base picture of one with a gain map.
"""

import pathlib
import subprocess
import sys

import numpy
from PIL import Image

pipectl, data, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
FILES = (
    "colors_hdr_p3.avif", "colors_hdr_rec2020.avif", "colors_hdr_srgb.avif", "colors_text_hdr_rec2020.avif",
    "colors_wcg_hdr_rec2020.avif", "seine_hdr_srgb.avif", "seine_hdr_gainmap_srgb.avif", "seine_sdr_gainmap_srgb.avif",
    "seine_sdr_gainmap_srgb.jpg")
LEAST = 50


def shown(path):
    """What Chromium shows of a picture."""
    page, shot = folder / "page.html", folder / "shot.png"
    page.write_text(f"<body style='margin:0;background:#fff'><img src='{path}' style='display:block'>")
    subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=400,300",
         f"--screenshot={shot}", f"--user-data-dir={folder / 'profile'}", f"file://{page}"], check=True, capture_output=True)
    return numpy.asarray(Image.open(shot).convert("RGB")) / 255


failures = 0
for name in FILES:
    expected = shown(data / name)
    if expected.min() > 0.99:
        sys.exit(f"Chromium doesn't show {name}.")
    targets = ["png", "avif"] if "gainmap" not in name else ["jpg", "avif"] if "sdr" in name else ["avif"]
    for target in targets:
        made = folder / f"made.{target}"
        subprocess.run([pipectl, "convert", "-y", "-q", data / name, made, "--quality", "100"], check=True)
        signal = -10 * numpy.log10(numpy.mean((shown(made) - expected) ** 2) + 1e-12)
        failures += signal < LEAST
        print(f"{name} as {target} in Chromium: {signal:.1f} dB to the source, at least {LEAST}")
# Not a number of numpy, which sys.exit would print.
sys.exit(int(failures > 0))
