#!/usr/bin/env python3
"""Has Chromium show HDR that pipectl writes, and the same of libavif's tests: PNG by `cICP`, AVIF, and gain maps in both kinds.

    Scripts/hdr-browser.py PIPECTL DATA FOLDER    DATA is libavif's tests/data; FOLDER is for files

On a display without headroom, Chromium maps the tones of PQ, and shows the base picture of one with a gain map.

Then pictures as the web platform's tests of `cICP` have them (png/cicp-chunk.html, png/apng/fDAT-inherits-cICP.html), with the
colours that these tests expect: one of Display P3, and one with frames.
"""

import io
import pathlib
import struct
import subprocess
import sys
import zlib

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


def with_cicp(image, **options):
    """A PNG of an image, whose numbers are those of Display P3 by its chunk cICP."""
    file = io.BytesIO()
    image.save(file, "png", **options)
    data, content = file.getvalue(), b"cICP" + bytes([12, 13, 0, 1])
    return data[:33] + struct.pack(">I", 4) + content + struct.pack(">I", zlib.crc32(content)) + data[33:]


still, moving = folder / "cicp.png", folder / "moving.png"
still.write_bytes(with_cicp(Image.new("RGB", (100, 50), (51, 102, 153))))
lime = Image.new("RGB", (100, 50), tuple(round(255 * part) for part in (0.4584, 0.9853, 0.2983)))
moving.write_bytes(with_cicp(lime, save_all=True, append_images=[lime.transpose(Image.ROTATE_180).resize((100, 50))],
                             duration=1000))
for source, targets, expected, most in (
        # The tolerance of the test.
        (still, ("png", "avif", "jpg", "webp", "gif"), (27, 104, 157), 2),
        # Lime has no red, where a level of Display P3 is several of sRGB. This one's levels are rounded.
        (moving, ("png", "webp", "gif"), (0, 255, 0), 4)):
    for target in targets:
        for choice in ([], ["--gamut", "srgb"]):
            made = folder / f"made.{target}"
            best = ["--lossless"] if target == "webp" else ["--quality", "100"]
            subprocess.run([pipectl, "convert", "-y", "-q", source, made, *best, *choice], check=True)
            color = shown(made)[5, 5] * 255
            wrong = numpy.abs(color - expected).max() > most
            failures += wrong
            name = f"{source.stem} as {target}{' in sRGB' if choice else ''} in Chromium"
            print(f"{name}: {color.round().astype(int).tolist()}, expected {list(expected)}{', WRONG' if wrong else ''}")
# Not a number of numpy, which sys.exit would print.
sys.exit(int(failures > 0))
