"""Makes thumbnails with one library repeatedly, and prints the costs of one as JSON.

worker.py LIBRARY WIDTHxHEIGHT ENCODING REPEATS OUTPUT FILE...
"""

import functools
import io
import json
import sys
import time


def status(name):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1])
    return 0


def pillow(path, width, height, encoding):
    from PIL import Image

    image = Image.open(path)
    image.thumbnail((width, height), Image.Resampling.LANCZOS)
    if encoding == "pixels":
        return image
    file = io.BytesIO()
    if encoding == "jpeg":
        image.convert("RGB").save(file, "JPEG", quality=80)
    else:
        image.save(file, "PNG", compress_level=6)
    return file.getvalue()


@functools.cache
def width_of(path):
    """Reads the width from the header, once for each file, so that its time doesn't count."""
    from PIL import Image

    return Image.open(path).size[0]


def opencv(path, width, height, encoding):
    import cv2

    cv2.setNumThreads(1)
    reduced = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
    flags = cv2.IMREAD_COLOR
    if path.endswith(".jpg"):
        excess = width_of(path) / width
        factor = next((f for f in (8, 4, 2) if excess / f >= 1), None)
        flags = reduced.get(factor, flags)
    if encoding == "png" or path.endswith("rgba.png"):
        flags = cv2.IMREAD_UNCHANGED
    image = cv2.imread(path, flags)
    if image is None:
        return None
    scale = min(width / image.shape[1], height / image.shape[0], 1)
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    if encoding == "pixels":
        return image
    if encoding == "jpeg":
        return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()
    return cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 6, cv2.IMWRITE_PNG_STRATEGY, 0])[1].tobytes()


def vips(path, width, height, encoding):
    import pyvips

    image = pyvips.Image.thumbnail(path, width, height=height, size="down")
    if encoding == "pixels":
        return image.write_to_memory(), image
    if encoding == "jpeg":
        return image.jpegsave_buffer(Q=80)
    return image.pngsave_buffer(compression=6, filter="none")


def save(result, library, path, encoding):
    if isinstance(result, (bytes, bytearray)):
        with open(path, "wb") as file:
            file.write(result)
    elif library.startswith("pillow"):
        result.save(path)
    elif library == "opencv":
        import cv2

        cv2.imwrite(path, result)
    else:
        memory, image = result
        import pyvips

        pyvips.Image.new_from_memory(
            memory, image.width, image.height, image.bands, "uchar"
        ).copy(interpretation="srgb").pngsave(path)


def main():
    library, size, encoding, repeats, output, *files = sys.argv[1:]
    width, height = map(int, size.split("x"))
    make = {"pillow": pillow, "opencv": opencv, "vips": vips}[library]
    if library == "vips":
        import pyvips

        pyvips.cache_set_max(0)
        pyvips.voperation.vips_lib.vips_concurrency_set(1)
    elif library == "opencv":
        import cv2  # noqa: F401
    else:
        from PIL import Image

        Image.init()
    idle = status("VmRSS")
    result = make(files[0], width, height, encoding)
    peak = status("VmHWM")
    for path in files:
        make(path, width, height, encoding)
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(int(repeats)):
        for path in files:
            make(path, width, height, encoding)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    count = int(repeats) * len(files)
    if output != "-":
        save(result, library, output, encoding)
    print(
        json.dumps(
            {
                "cpu_ms": cpu / count * 1000, "rate": count / wall, "peak_kb": peak - idle,
                "bytes": len(result) if isinstance(result, (bytes, bytearray)) else 0,
            }
        )
    )


main()
