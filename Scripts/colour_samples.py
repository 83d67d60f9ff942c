#!/usr/bin/env python3
"""Makes small pictures whose colours are easily got wrong, out of the photograph among the test images.

    python3 Scripts/colour_samples.py Tests/Images
"""

import io
import pathlib
import struct
import sys

import numpy
import tifffile
from PIL import Image, ImageCms


def tag_xyz(x, y, z):
    return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in (x, y, z))


def tag_gamma(gamma):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"


def tag_text(kind, text):
    data = text.encode()
    if kind == "desc":
        return b"desc\0\0\0\0" + struct.pack(">I", len(data) + 1) + data + b"\0" + bytes(78) + bytes(-(len(data) + 91) % 4)
    return b"text\0\0\0\0" + data + b"\0" + bytes(-(len(data) + 1) % 4)


def profile(space, tags):
    """An ICC profile of version 2.1 with matrix or grey curves."""
    table, data = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, body in tags:
        table += name + struct.pack(">II", start + len(data), len(body))
        data += body + bytes(-len(body) % 4)
    header = struct.pack(">I4sI4s4s4s12s4s", start + len(data), b"none", 0x02100000, b"mntr", space, b"XYZ ",
                         struct.pack(">6H", 2024, 1, 1, 0, 0, 0), b"acsp")
    header += bytes(28) + struct.pack(">3i", 63190, 65536, 54061) + bytes(4)
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + data


COMMON = [(b"cprt", tag_text("text", "CC0")), (b"wtpt", tag_xyz(0.9505, 1, 1.0891))]
ADOBE_RGB = profile(b"RGB ", [(b"desc", tag_text("desc", "Wide RGB"))] + COMMON + [
    (b"rXYZ", tag_xyz(0.60974, 0.31111, 0.01947)), (b"gXYZ", tag_xyz(0.20528, 0.62567, 0.06087)),
    (b"bXYZ", tag_xyz(0.14919, 0.06322, 0.74457)),
    (b"rTRC", tag_gamma(2.2)), (b"gTRC", tag_gamma(2.2)), (b"bTRC", tag_gamma(2.2))])
GREY_18 = profile(b"GRAY", [(b"desc", tag_text("desc", "Grey gamma 1.8"))] + COMMON + [(b"kTRC", tag_gamma(1.8))])


def main(folder):
    output = folder / "generated"
    output.mkdir(exist_ok=True)
    photo = Image.open(folder / "good/photo-12mp-baseline-420.jpg").convert("RGB")
    small = photo.crop((0, 200, 2400, 2000)).resize((96, 72), Image.LANCZOS)
    small.save(output / "adobe-rgb.jpg", quality=90, icc_profile=ADOBE_RGB, subsampling=0)
    small.convert("L").save(output / "grey-gamma-1.8.jpg", quality=90, icc_profile=GREY_18)
    small.convert("L").save(output / "grey-gamma-1.8.png", icc_profile=GREY_18)
    small.save(output / "adobe-rgb.webp", lossless=True, icc_profile=ADOBE_RGB)
    small.save(output / "adobe-rgb.tif", compression="tiff_deflate", icc_profile=ADOBE_RGB)
    alpha = Image.linear_gradient("L").resize(small.size)
    small.putalpha(alpha)
    small.save(output / "adobe-rgb-alpha.png", icc_profile=ADOBE_RGB)
    small = small.convert("RGB")
    cmyk = Image.open(folder / "good/jpeg-cmyk-icc.jpg")
    ink = cmyk.info["icc_profile"]
    inks = cmyk.resize((96, 72), Image.LANCZOS)
    inks.save(output / "cmyk.tif", compression="tiff_deflate", icc_profile=ink)
    inks.save(output / "cmyk-without-profile.jpg", quality=90, icc_profile=None)
    lab = ImageCms.profileToProfile(
        small, ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB",
        renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC)
    # TIFF has a* and b* with a sign (TIFF 6.0 section 23), Pillow has 128 in the middle.
    pixels = numpy.asarray(lab) ^ numpy.array([0, 128, 128], dtype=numpy.uint8)
    tifffile.imwrite(output / "lab.tif", pixels, photometric="cielab", compression="zlib", metadata=None)
    deep = numpy.asarray(small).astype(numpy.uint16) * 257
    tifffile.imwrite(output / "rgb-16.tif", deep, photometric="rgb", compression="zlib", predictor=True, metadata=None)
    tifffile.imwrite(output / "grey-16-white-is-0.tif", 65535 - deep[..., 1], photometric="miniswhite", metadata=None)


main(pathlib.Path(sys.argv[1]))
