#!/usr/bin/env python3
"""Asks a server and a real thumbor for the same paths, and compares the pictures.

  thumbor.py BINARY PHOTOGRAPH RUN    the server's program, a JPEG of which the pictures are made, a folder for this run

Both read the same folder. thumbor turns pictures upright, which isn't its default. Each path asks for PNG, so that the encoders make no
difference. A path fails if the sizes differ, or if the mean difference of a channel is above the path's limit. Kernels and
decoders differ a little, and the mean is measured in levels of 255 after the picture is put on a grey.

Paths are signed by libthumbor with the key of both servers. Then paths that thumbor serves by ignoring a part, or by a filter
that the server doesn't have, have to be a 400.
"""
import io
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy
from libthumbor.url_signers.base64_hmac_sha1 import UrlSigner
from PIL import Image, ImageOps

binary, photograph, run = sys.argv[1:4]
KEY = "a key of at least sixteen bytes"
folder = f"{run}/pictures"

# A path, the source, and the limit of the mean difference.
PATHS = [
    ("", "photo.png", 0.1), ("300x200", "photo.png", 0.7), ("300x300", "photo.png", 0.7), ("100x300", "photo.png", 0.7),
    ("300x0", "photo.png", 0.7), ("x200", "photo.png", 0.7), ("300x200", "photo.jpg", 2), ("1000x1000", "small.png", 1),
    ("-300x200", "photo.png", 0.7), ("300x-200", "photo.png", 0.7), ("-0x-0", "photo.png", 0.1), ("origx200", "photo.png", 0.7),
    ("300xorig", "photo.png", 0.7), ("300x300/left", "photo.png", 0.7), ("300x300/right", "photo.png", 0.7),
    ("300x100/top", "photo.png", 0.7), ("300x100/bottom", "photo.png", 0.7), ("100x300/right/bottom", "portrait.png", 0.7),
    ("100x100:500x400", "photo.png", 0.1), ("100x100:500x400/200x200", "photo.png", 0.7),
    ("800x600:9999x9999/50x0", "photo.png", 0.7), ("5000x0:6000x9/50x50", "photo.png", 0.7),
    ("fit-in/300x300", "photo.png", 0.7), ("fit-in/300x300", "photo.jpg", 2), ("fit-in/300x300", "portrait.png", 0.7),
    ("fit-in/300x300", "small.png", 0.1), ("fit-in/300x300/filters:upscale()", "small.png", 1),
    ("full-fit-in/300x300", "photo.png", 0.7), ("full-fit-in/300x300", "small.png", 1),
    ("adaptive-fit-in/300x200", "portrait.png", 0.7), ("adaptive-full-fit-in/300x200", "portrait.png", 0.7),
    ("fit-in/300x300/filters:fill(ff0000)", "photo.png", 0.7), ("fit-in/300x300/filters:fill(teal)", "small.png", 0.1),
    ("fit-in/300x300/filters:fill(transparent)", "photo.png", 0.7), ("fit-in/200x300/filters:fill(white,true)", "clear.png", 1),
    ("fit-in/200x300/filters:fill(white)", "clear.png", 1), ("200x0/filters:background_color(00ff00)", "clear.png", 1),
    ("300x200/filters:no_upscale()", "small.png", 1), ("300x200/filters:stretch()", "portrait.png", 0.7),
    ("300x200/filters:grayscale()", "photo.png", 0.7), ("300x200/filters:brightness(20)", "photo.png", 0.7),
    ("300x200/filters:brightness(-30)", "photo.png", 0.7), ("300x200/filters:contrast(20)", "photo.png", 1),
    ("300x200/filters:contrast(-40)", "photo.png", 0.7), ("300x200/filters:saturation(0.4)", "photo.png", 0.7),
    ("300x200/filters:saturation(2)", "photo.png", 1.2), ("300x200/filters:rgb(20,-20,40)", "photo.png", 0.7),
    ("300x200/filters:blur(3)", "photo.png", 1.5), ("300x200/filters:blur(6,2)", "photo.png", 1.5),
    ("300x200/filters:blur(20)", "photo.png", 2.5), ("300x200/filters:rotate(90)", "photo.png", 0.7),
    ("300x200/filters:rotate(-90)", "photo.png", 0.7), ("300x200/filters:rotate(90):fill(blue)", "photo.png", 0.7),
    ("300x200/filters:proportion(0.5)", "photo.png", 0.7), ("300x200/filters:round_corner(40,255,0,0)", "photo.png", 1),
    ("300x200/filters:round_corner(80|30,0,0,0,true)", "photo.png", 1), ("300x200/filters:round_corner(500,0,0,0)", "photo.png", 1.5),
    ("300x300/filters:focal(0x0:100x100)", "photo.png", 0.7), ("300x300/filters:focal(600x0:800x100)", "photo.png", 0.7),
    ("100x100:900x600/200x300/filters:focal(600x300:800x400)", "photo.png", 0.7),
    ("trim", "framed.png", 0.1), ("trim:bottom-right:20", "framed.png", 0.1), ("trim/100x0", "framed.png", 0.7),
    ("trim/100x100:300x300", "framed.png", 0.1), ("200x150/filters:strip_exif():strip_icc()", "turned.jpg", 2),
    ("300x200/filters:brightness(40):contrast(40)", "photo.png", 1), ("300x200/filters:contrast(40):brightness(40)", "photo.png", 1),
    ("50x50/filters:grayscale():rgb(30,0,0)", "grey.png", 0.7),
]

REFUSED = [
    "debug/300x200", "meta/300x200", "trim:50", "300x200/filters:watermark(small.png,repeat,0,50)", "300x200/filters:equalize()",
    "300x200/filters:sharpen(2,1,true)", "300x200/filters:noise(50)", "300x200/filters:rotate(45)",
    "300x200/filters:fill(auto)", "300x200/filters:unheard_of(1)", "300x200/filters:proportion(2)",
    "300x200/filters:quality(abc)", "9999x200",
]


def make_pictures():
    os.makedirs(folder)
    photo = ImageOps.exif_transpose(Image.open(photograph)).convert("RGB").resize((901, 675), Image.Resampling.LANCZOS)
    photo.save(f"{folder}/photo.png")
    photo.save(f"{folder}/photo.jpg", quality=92, subsampling=0)
    photo.crop((200, 0, 581, 675)).save(f"{folder}/portrait.png")
    photo.resize((121, 90), Image.Resampling.LANCZOS).save(f"{folder}/small.png")
    photo.convert("L").save(f"{folder}/grey.png")
    ImageOps.expand(photo.crop((100, 100, 500, 400)), (30, 40, 50, 60), (250, 250, 250)).save(f"{folder}/framed.png")
    clear = photo.crop((0, 0, 400, 400)).convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize((400, 400)))
    clear.save(f"{folder}/clear.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(f"{folder}/turned.jpg", quality=92, subsampling=0, exif=exif)


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def image_server():
    with open(f"{run}/keys", "w") as file:
        file.write(KEY.encode().hex() + "\n")
    process = subprocess.Popen(
        [binary, "--port", "0", "--keys-file", f"{run}/keys", "--rate", "0", "--cache", f"{run}/cache", "--folder", folder],
        stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("listening on port "):
            return process, f"http://127.0.0.1:{int(line.split()[-1])}/thumbor"
    sys.exit("The server didn't start.")


def thumbor():
    port = free_port()
    with open(f"{run}/thumbor.conf", "w") as file:
        file.write(f"LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = {folder!r}\nSTORAGE = 'thumbor.storages.no_storage'\n"
                   f"SECURITY_KEY = {KEY!r}\nRESPECT_ORIENTATION = True\n")
    process = subprocess.Popen([
        os.path.join(os.path.dirname(sys.executable), "thumbor"), "--port", str(port), "--ip", "127.0.0.1", "--conf", f"{run}/thumbor.conf",
        "--log-level", "critical"])
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthcheck")
            return process, f"http://127.0.0.1:{port}"
        except OSError:
            time.sleep(0.1)
    sys.exit("thumbor didn't start.")


def get(site, path, signature=None):
    signature = signature or UrlSigner(KEY).signature(path).decode()
    try:
        with urllib.request.urlopen(f"{site}/{signature}/{path}", timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def with_png(path):
    """The path with a filter for the format."""
    if "filters:" in path:
        return path.replace("filters:", "filters:format(png):")
    return (path + "/" if path else "") + "filters:format(png)"


def pixels(body):
    picture = Image.open(io.BytesIO(body)).convert("RGBA")
    grey = Image.new("RGBA", picture.size, (128, 128, 128, 255))
    return numpy.asarray(Image.alpha_composite(grey, picture).convert("RGB")).astype(int)


def compare(path, source, limit):
    """What is wrong, or an empty text, and the mean difference."""
    asked = f"{with_png(path)}/{source}"
    (status, own), (other_status, other) = get(server, asked), get(peer, asked)
    if (status, other_status) != (200, 200):
        return f"status {status} instead of {other_status}: {own[:200] if status != 200 else ''}", 0
    own, other = pixels(own), pixels(other)
    if own.shape != other.shape:
        return f"size {own.shape[1::-1]} instead of {other.shape[1::-1]}", 0
    difference = abs(own - other).mean()
    return (f"differs by {difference:.2f}, more than {limit}" if difference > limit else ""), difference


make_pictures()
process, server = image_server()
peer_process, peer = thumbor()
failures = 0
try:
    differences = []
    for path, source, limit in PATHS:
        wrong, difference = compare(path, source, limit)
        differences.append(difference)
        failures += bool(wrong)
        print(f"{'WRONG' if wrong else 'same':6}{difference:6.2f}  {path}/{source}  {wrong}")
    refused = 0
    for path in REFUSED:
        status, _ = get(server, f"{path}/photo.png")
        refused += status == 400
        failures += status != 400
        if status != 400:
            print(f"WRONG         {path}: {status} instead of 400")
    for signature in ("unsafe", "A" * 27 + "="):
        if get(server, "300x200/photo.png", signature)[0] != 403:
            failures += 1
            print(f"WRONG         The signature {signature} isn't refused.")
    print(f"{len(PATHS)} paths, mean difference {numpy.mean(differences):.2f}, at most {max(differences):.2f}; {refused} of {len(REFUSED)} refused")
finally:
    for one in (process, peer_process):
        one.send_signal(signal.SIGTERM)
        one.wait()
sys.exit(failures > 0)
