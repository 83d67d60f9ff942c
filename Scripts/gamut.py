#!/usr/bin/env python3
"""Compares the colours of pictures in Display P3 that pipectl writes with what they should be, in CIEDE2000.

    Scripts/gamut.py PIPECTL FOLDER    FOLDER is for files that are made

The numbers of a picture are taken for Display P3's. Scaled as if they were sRGB's, they are the reference: their colours
follow from the definition, in floating point. What pipectl keeps is read by LittleCMS, by the profile in the file.
"""

import pathlib
import subprocess
import sys

import pyvips

pipectl, folder = sys.argv[1], pathlib.Path(sys.argv[2])
good = pathlib.Path(__file__).parent.parent / "Tests/Images/good"
PICTURES = ["jpeg-icc-display-p3.jpg", "jpeg-progressive-444.jpg", "jpeg-exif-xmp-icc.jpg", "exif-orientation-1.jpg"]
FORMATS = [("png", []), ("webp", ["--lossless"]), ("tiff", [])]
# Linear light of sRGB and of Display P3 to CIE XYZ (IEC 61966-2-1, SMPTE EG 432-1), and daylight to D50 by Bradford.
SRGB = [[0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923], [0.0193308, 0.1191948, 0.9505322]]
P3 = [[0.4865709, 0.2656677, 0.1982173], [0.2289746, 0.6917385, 0.0792869], [0.0, 0.0451134, 1.0439444]]
BRADFORD = [[1.0479298, 0.0229468, -0.0501922], [0.0296278, 0.9904345, -0.0170738], [-0.0092430, 0.0150552, 0.7518743]]
# Where white ends up, within what rounding leaves.
D50 = [100 * sum(row[i] * sum(SRGB[i]) for i in range(3)) for row in BRADFORD]
# Linear light of Display P3 to that of sRGB.
P3_TO_SRGB = [[1.2249402, -0.2249404, 0.0], [-0.0420569, 1.0420571, 0.0], [-0.0196376, -0.0786361, 1.0982735]]
failures = 0


def linear(picture):
    values = picture.extract_band(0, n=3).cast("double") / 255
    return (values <= 0.04045).ifthenelse(values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light, matrix):
    light = light.recomb(pyvips.Image.new_from_array(matrix)).recomb(pyvips.Image.new_from_array(BRADFORD)) * 100
    return light.copy(interpretation="xyz").XYZ2Lab(temp=D50)


def read(picture):
    """The colours by LittleCMS. libvips takes its Lab of 16 bits for that of ICC version 2, whose white is 65280."""
    picture = picture.icc_import(embedded=True, intent="relative")
    v4 = (picture + [0, 128, 128]) * (65280 / 65535) - [0, 128, 128]
    return v4.copy(interpretation="lab")


def compare(text, reference, result):
    global failures
    difference = reference.dE00(result)
    # vips_percent takes whole numbers.
    percentile = (difference * 1000).rint().cast("ushort").percent(99) / 1000
    failures += percentile > 1
    print(f"{text}: CIEDE2000 {percentile:.2f} at the 99th percentile, {difference.avg():.2f} on average")


def convert(source, made, *options):
    subprocess.run([pipectl, "convert", "-y", "-q", source, made, *options], check=True)
    return pyvips.Image.new_from_file(str(made))


for name in PICTURES:
    plain, wide = folder / "plain.png", folder / "wide.png"
    picture = pyvips.Image.new_from_file(str(good / name)).autorot()
    picture.pngsave(str(plain), strip=True)
    picture.pngsave(str(wide), profile="p3")
    for share in (1, 0.5, 0.3):
        size = f"{round(picture.width * share)}x{round(picture.height * share)}!"
        numbers = linear(convert(plain, folder / "numbers.png", "-s", size))
        for kind, options in FORMATS:
            made = convert(wide, folder / f"kept.{kind}", "-s", size, *options)
            compare(f"{name} {size} kept in {kind}", lab(numbers, P3), read(made))
        made = convert(wide, folder / "mapped.png", "-s", size, "--gamut", "srgb")
        mapped = numbers.recomb(pyvips.Image.new_from_array(P3_TO_SRGB))
        mapped = (mapped < 0).ifthenelse(0, (mapped > 1).ifthenelse(1, mapped))
        compare(f"{name} {size} mapped to sRGB", lab(mapped, SRGB), lab(linear(made), SRGB))
print(f"{failures} of them are above 1." if failures else "None is above 1.")
sys.exit(failures > 0)
