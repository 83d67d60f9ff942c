#!/usr/bin/env python3
"""Makes the references that the decoders are held against, with Pillow, pillow-heif, tifffile and OpenCV: not with any code of ours.

    python3 Scripts/references.py Tests/Images

A reference has every frame of the picture, upright and in sRGB, one below the other; where the picture is larger than
128 pixels, the means of square blocks. Colours are premultiplied. What is at the right and lower edge and fills no
block is left out.
"""

import io
import pathlib
import sys

import cv2
import numpy
import pillow_heif
import tifffile
from PIL import Image, ImageCms, ImageOps, ImageSequence

LARGEST = 128
FRAMES = 100


def animation(path):
    # Where a frame gives way to the background, Pillow shows its colour; OpenCV shows nothing, as browsers do.
    for frame in cv2.imreadanimation(str(path))[1].frames[:FRAMES]:
        yield Image.fromarray(cv2.cvtColor(frame, cv2.COLOR_BGRA2RGBA))


def opened(path):
    if path.suffix == ".tif":
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            # Of 16 bits Pillow reads some and not others.
            if page.bitspersample == 16:
                pixels = page.asarray() >> 8
                inverted = 255 - pixels if page.photometric.name == "MINISWHITE" else pixels
                return Image.fromarray(inverted.astype(numpy.uint8))
    return Image.open(path)


def in_srgb(image, profile):
    if image.mode == "LAB":
        return ImageCms.profileToProfile(
            image, ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), outputMode="RGB")
    if not profile:
        return image.convert("RGB") if image.mode == "CMYK" else image
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    colours = image.convert("RGB") if image.mode in ("RGBA", "P") else image.convert("L") if image.mode == "LA" else image
    converted = ImageCms.profileToProfile(
        colours, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"),
        renderingIntent=ImageCms.Intent.PERCEPTUAL, outputMode="RGB")
    if alpha is not None:
        converted.putalpha(alpha)
    return converted


def means(image):
    pixels = numpy.asarray(image.convert("RGBA"), dtype=numpy.float64)
    pixels = numpy.concatenate([pixels[..., :3] * pixels[..., 3:] / 255, pixels[..., 3:]], axis=2)
    side = -(-max(image.size) // LARGEST)
    rows, columns = pixels.shape[0] // side, pixels.shape[1] // side
    blocks = pixels[: rows * side, : columns * side].reshape(rows, side, columns, side, 4)
    return numpy.rint(blocks.mean(axis=(1, 3))).astype(numpy.uint8)


def main(folder):
    pillow_heif.register_heif_opener()
    output = folder / "references"
    output.mkdir(exist_ok=True)
    for path in sorted([*(folder / "good").iterdir(), *(folder / "generated").iterdir()]):
        # Pillow doesn't know PQ.
        if path.is_dir() or path.suffix in (".svg", ".jxl") or path.name == "pq.png":
            continue
        image = opened(path)
        profile = image.info.get("icc_profile")
        if image.format in ("GIF", "WEBP") and image.n_frames > 1:
            frames = [means(frame) for frame in animation(path)]
        elif image.format == "PNG" and image.n_frames > 1:
            frames = [means(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]
        else:
            # A JPEG's further pictures are of other sizes.
            still = ImageOps.exif_transpose(image)
            if still.mode == "P" and "transparency" in still.info:
                still = still.convert("RGBA")
            frames = [means(in_srgb(still, profile))]
        pixels = numpy.concatenate(frames)
        opaque = (pixels[..., 3] == 255).all()
        Image.fromarray(pixels[..., :3] if opaque else pixels).save(output / (path.name + ".png"), optimize=True)


main(pathlib.Path(sys.argv[1]))
