"""Makes the images of the tasks from the tests' photograph, in a folder of their own."""

import shutil
from pathlib import Path

import heic
import numpy
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "Tests/Images/good"
PHOTOGRAPH = SAMPLES / "photo-12mp-baseline-420.jpg"


def with_alpha(image):
    """Cuts out discs with soft edges. Transparent pixels keep their colours, which must not show at the edges."""
    width, height = image.size
    y, x = numpy.mgrid[0:height, 0:width]
    distance = numpy.hypot((x % 512) - 256, (y % 512) - 256)
    alpha = numpy.clip((230 - distance) * 4, 0, 255).astype(numpy.uint8)
    return Image.merge("RGBA", (*image.convert("RGB").split(), Image.fromarray(alpha)))


def make(folder):
    """Makes missing files and returns all by name."""
    folder.mkdir(parents=True, exist_ok=True)
    photograph = Image.open(PHOTOGRAPH)

    def resized(width, height):
        return photograph.resize((width, height), Image.Resampling.LANCZOS)

    makers = {
        "jpeg-12mp.jpg": lambda path: shutil.copy(PHOTOGRAPH, path),
        "jpeg-12mp-progressive.jpg": lambda path: photograph.save(path, quality="keep", progressive=True),
        "png-3mp.png": lambda path: resized(2016, 1488).save(path),
        "png-rgba.png": lambda path: with_alpha(resized(2048, 1536)).save(path),
        "webp-6mp.webp": lambda path: resized(2848, 2102).save(path, quality=80),
        "avif-3mp.avif": lambda path: resized(2016, 1488).save(path, quality=60, speed=8),
        "heic-12mp.heic": lambda path: heic.make(PHOTOGRAPH, path, 4032, 2976),
        "jpeg-2725x2225.jpg": lambda path: resized(2725, 2225).save(path, quality=90),
        "jpeg-300.jpg": lambda path: resized(300, 221).save(path, quality=85),
    }
    for name, maker in makers.items():
        if not (folder / name).exists():
            maker(folder / name)
    return {name: folder / name for name in makers}


def mixed(files):
    """Returns a typical user's folder: photographs large and small, drawings, with and without transparency."""
    small = [
        "jpeg-progressive-444.jpg", "jpeg-icc-display-p3.jpg", "jpeg-exif-xmp-icc.jpg", "exif-orientation-6.jpg",
        "png-icc-rec2020.png", "png-tbbn3p08.png", "webp-lossy.webp", "webp-lossless.webp", "avif-photo.avif",
        "tiff-jpeg-tiled.tif", "gif-animated.gif",
    ]
    return [SAMPLES / name for name in small] + [
        files[name] for name in ("jpeg-2725x2225.jpg", "png-rgba.png", "jpeg-300.jpg", "webp-6mp.webp")
    ]
