#!/usr/bin/env python3
"""Compares scaling before a gain map is applied with scaling afterwards, in PQ, for a display with four stops of headroom.

    Scripts/gain-map-geometry.py PIPECTL READER FOLDER    READER is Scripts/gain-map-reader.c; FOLDER is for files

Parts of photographs get highlights and are written by libultrahdr, with a map of a quarter of the sides. pipectl scales
them to a third, in JPEG and in AVIF, at the best quality. The reference applies the map by the formula of ISO 21496-1, in
floating point, and scales then. libavif applies the maps of the AVIFs; those of the JPEGs are applied by the formula, since
libultrahdr places a map's samples at corners of the picture's pixels, which shifts them by another distance in each size. It
has to read them, though, and so has libvips.
"""

import io
import json
import pathlib
import subprocess
import sys

import imagecodecs
import numpy
from PIL import Image

pipectl, reader, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
good = pathlib.Path(__file__).parent.parent / "Tests/Images/good"
PHOTOGRAPHS = ["jpeg-icc-display-p3.jpg", "jpeg-progressive-444.jpg", "jpeg-exif-xmp-icc.jpg"]
STOPS = 4
failures = 0


def parts():
    """Thirty pictures: of each photograph ten parts, mirrored, with other highlights each."""
    for name in PHOTOGRAPHS:
        whole = Image.open(good / name).convert("RGB")
        for index in range(10):
            side = (480, 336) if index % 2 else (336, 480)
            part = whole.resize((640 + 24 * index, 640 + 16 * index), Image.LANCZOS)
            part = part.crop((7 * index, 11 * index, 7 * index + side[0], 11 * index + side[1]))
            if index % 3 == 1:
                part = part.transpose(Image.FLIP_LEFT_RIGHT)
            yield numpy.asarray(part) / 255, 3 + index * 1.2


def light(levels):
    return numpy.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def pq(light):
    """SMPTE ST 2084, with white at 203 cd/m² (ITU-R BT.2408)."""
    y = numpy.clip(light * 203 / 10000, 0, 1) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375


def scaled(levels, size, kernel=Image.LANCZOS):
    channels = [Image.fromarray(levels[..., channel].astype(numpy.float32)) for channel in range(3)]
    return numpy.stack([numpy.asarray(channel.resize(size, kernel)) for channel in channels], -1)


def applied(path):
    """The picture of a JPEG for the display, in PQ."""
    data = path.read_bytes()
    if imagecodecs.ultrahdr_decode(data, dtype=numpy.float16, boost=2.0**STOPS).shape[2] != 4:
        sys.exit("libultrahdr doesn't read the JPEG.")
    # It sets VIPSHOME, by which the system's libvips, and so pipectl, would look for its modules.
    code = "import pyvips, sys; sys.exit(pyvips.Image.new_from_file(sys.argv[1]).uhdr2scRGB().max() <= 1)"
    if subprocess.run([sys.executable, "-c", code, path]).returncode != 0:
        sys.exit("libvips doesn't read the JPEG's map.")
    # The map is the last picture.
    base, gains = (
        numpy.asarray(Image.open(io.BytesIO(data[start:])).convert("RGB")) / 255
        for start in (0, data.rfind(b"\xff\xd8\xff")))
    text = subprocess.run([pipectl, "info", "--json", path], check=True, capture_output=True, text=True).stdout
    gain = {name: numpy.array(value) for name, value in json.loads(text)["gainMap"].items() if name != "standard"}
    levels = scaled(gains, base.shape[1::-1], Image.BILINEAR)
    stops = gain["minimum"] + (gain["maximum"] - gain["minimum"]) * levels ** (1 / gain["gamma"])
    weight = min(1, (STOPS - gain["baseHeadroom"]) / (gain["alternateHeadroom"] - gain["baseHeadroom"]))
    return pq((light(base) + gain["baseOffset"]) * 2 ** (stops * weight) - gain["alternateOffset"])


def by_libavif(path):
    made = folder / "pq"
    width, height = map(int, subprocess.run(
        [reader, path, str(STOPS), made], check=True, capture_output=True, text=True).stdout.split()[:2])
    return numpy.fromfile(made, numpy.uint16).reshape(height, width, 3) / 65535


def psnr(one, other):
    return -10 * numpy.log10(numpy.mean((one - other) ** 2))


def convert(source, result, *options):
    subprocess.run([pipectl, "convert", "-y", "-q", source, result, *options], check=True)
    return result


def equally_good(source, target, wanted):
    """The smallest AVIF whose base is at least as near to the source's."""
    low, high = 1, 100
    while low < high:
        quality = (low + high) // 2
        convert(source, target, "--quality", str(quality), "--effort", "4")
        low, high = (low, quality) if base_psnr(source, target) >= wanted else (quality + 1, high)
    convert(source, target, "--quality", str(low), "--effort", "4")
    return target.stat().st_size


def base_psnr(source, target):
    bases = [convert(path, folder / f"base{index}.png", "--gain-map", "drop") for index, path in enumerate((source, target))]
    one, other = (numpy.asarray(Image.open(path).convert("RGB")) / 255.0 for path in bases)
    return psnr(one, other)


found = {"JPEG": [], "AVIF": []}
ratios = []
for levels, boost in parts():
    linear = light(levels)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    pixels = numpy.dstack([linear * (1 + boost * luminance**2)[..., None], numpy.ones(luminance.shape)])
    data = bytes(imagecodecs.ultrahdr_encode(pixels.astype(numpy.float16), level=95, scale=4))
    source = folder / "source.jpg"
    source.write_bytes(data)
    size = (levels.shape[1] // 3, levels.shape[0] // 3)
    reference = scaled(applied(source), size)
    options = ["--ops", f"resize={size[0]}:{size[1]}:fit=fill", "--quality", "100"]
    found["JPEG"].append(psnr(applied(convert(source, folder / "small.jpg", *options)), reference))
    found["AVIF"].append(psnr(by_libavif(convert(source, folder / "small.avif", *options)), reference))
    if len(ratios) < 10:
        jpeg = convert(source, folder / "equal.jpg", "--quality", "80")
        bytes_of_avif = equally_good(source, folder / "equal.avif", base_psnr(source, jpeg))
        ratios.append(bytes_of_avif / jpeg.stat().st_size)
for name, values in found.items():
    failures += min(values) < 45
    print(f"{name}, {len(values)} pictures: {min(values):.1f} dB at least, {numpy.median(values):.1f} at the median")
failures += numpy.median(ratios) > 0.6
print(f"Bytes of AVIF for each of JPEG at an equal base: {numpy.median(ratios):.2f} at the median, {max(ratios):.2f} at most")
# Not a number of numpy, which sys.exit would print.
sys.exit(int(failures > 0))
