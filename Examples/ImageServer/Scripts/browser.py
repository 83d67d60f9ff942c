#!/usr/bin/env python3
"""Drives headless Chromium over a gallery of patterns, and checks what it shows against Pillow.

  browser.py PORT FOLDER SCREENSHOTS ORIGIN PID [--smoke]    the server's port, its pictures, where screenshots go, the port
                                                             at which this script serves the picture whose origin fails,
                                                             the server's process; --smoke measures, and fails on nothing
                                                             that depends on the machine's speed
"""
import http.server
import io
import json
import os
import re
import sys
import threading
import time
import urllib.request

import numpy
from PIL import Image

from chromium import Browser, check, failures, wait_for
from processes import cpu

port, folder, screenshots, server = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[5]
isSmoke = "--smoke" in sys.argv
site = f"http://127.0.0.1:{port}"
Image.MAX_IMAGE_PIXELS = None


def reference(path, region=None, aspect=None):
    """A picture of 16×12 pixels: of the whole file, of a region of it, or of its middle with an aspect."""
    image = Image.open(path).convert("RGB")
    if region:
        image = image.crop((region[0], region[1], region[0] + region[2], region[1] + region[3]))
    if aspect:
        width, height = min(image.width, image.height * aspect), min(image.height, image.width / aspect)
        left, top = (image.width - width) / 2, (image.height - height) / 2
        image = image.resize((16, 12), Image.Resampling.BOX, (left, top, left + width, top + height))
    return numpy.asarray(image.resize((16, 12), Image.Resampling.BOX)).astype(int)


def metric(name):
    text = urllib.request.urlopen(site + "/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


# What an element shows, as 16×12 pixels: the image itself, scaled by the browser.
PIXELS = """(image) => {
  const canvas = new OffscreenCanvas(16, 12), context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, 16, 12);
  return [...context.getImageData(0, 0, 16, 12).data];
}"""
SHOWN = """(() => {
  const pixels = %s;
  return [...document.querySelectorAll(".grid a")].map((cell) => {
    const image = cell.querySelector("img"), box = cell.getBoundingClientRect();
    const isShown = image.complete && image.naturalWidth > 0;
    return {name: cell.dataset.name, isShown, isFailed: cell.classList.contains("failed"),
      isInSight: box.bottom > 0 && box.top < innerHeight, pixels: isShown ? pixels(image) : null};
  });
})()""" % PIXELS


def differences(shown, wanted):
    pixels = numpy.array(shown).reshape(12, 16, 4)[:, :, :3]
    return numpy.abs(pixels - wanted).mean()


def scroll(browser, screens):
    for y in screens:
        browser.run(f"scrollTo(0, {y * 800})")
        yield


def everything_in_sight(browser):
    return all(cell["isShown"] or cell["isFailed"] for cell in browser.run(SHOWN) if cell["isInSight"])


def has_placeholder(name):
    pictures = json.load(urllib.request.urlopen(site + "/pictures.json"))
    return next(picture["hash"] for picture in pictures if picture["name"] == name)


def check_grid(browser, failing):
    # The origin of this picture sends it once, which has to be for the placeholder.
    wait_for(lambda: has_placeholder(failing), "the placeholder")
    browser.open("/")
    wait_for(lambda: everything_in_sight(browser), "the first screen")
    screens = range(0, browser.run("Math.ceil(document.body.scrollHeight / 800)"))
    for _ in scroll(browser, [*screens, *reversed(screens)]):
        pass
    for _ in scroll(browser, screens):
        wait_for(lambda: everything_in_sight(browser), "a screen")
    cells = [cell for cell in browser.run(SHOWN) if cell["name"] != failing]
    wanted = {cell["name"]: reference(os.path.join(folder, cell["name"]), aspect=4 / 3) for cell in cells}
    wrong, largest = [], 0
    for cell in cells:
        own = differences(cell["pixels"], wanted[cell["name"]]) if cell["isShown"] else 255
        nearest = min(wanted, key=lambda name: differences(cell["pixels"], wanted[name])) if cell["isShown"] else None
        largest = max(largest, own)
        if own > 10 or nearest != cell["name"]:
            wrong.append(f"{cell['name']} (differs by {own:.1f}, nearest {nearest})")
    check(len(cells) == 200 and not wrong, f"{len(cells)} cells show their own picture, none differs by more than {largest:.1f} of 255 {' '.join(wrong[:5])}")
    check(browser.run("shift") == 0, f"no layout shift ({browser.run('shift')})")
    given_up = browser.run("document.documentElement.dataset.givenUp ?? '0'")
    print(f"      {given_up} requests were given up while scrolling quickly")


def check_failure(browser, failing):
    cell = browser.run(f"""(() => {{
      const cell = document.querySelector('[data-name="{failing}"]');
      cell.scrollIntoView();
      return [cell.classList.contains("failed"), [...cell.querySelector("canvas").getContext("2d").getImageData(8, 6, 1, 1).data]];
    }})()""")
    wait_for(lambda: browser.run(f"document.querySelector('[data-name=\"{failing}\"]').classList.contains('failed')"), "the failure")
    check(abs(cell[1][0] - 220) < 12 and cell[1][1] < 60, f"an origin that fails leaves the placeholder, of colour {cell[1][:3]}")
    browser.screenshot("failure.png")


def check_second_visit(browser):
    decoded, sent = 'pipeline_stage_seconds_count{stage="Decode"}', 'http_requests_total{kind="thumb",outcome="%d"}'
    before = metric(decoded), metric(sent % 200), metric(sent % 304)
    browser.run("scrollTo(0, 0)")
    browser.send("Page.reload")
    wait_for(lambda: browser.run("document.readyState") == "complete", "the second visit")
    for _ in scroll(browser, range(0, browser.run("Math.ceil(document.body.scrollHeight / 800)"))):
        wait_for(lambda: everything_in_sight(browser), "a screen of the second visit")
    decodes, whole, confirmed = metric(decoded) - before[0], metric(sent % 200) - before[1], metric(sent % 304) - before[2]
    check(decodes == whole == 0, f"a second visit makes {decodes:.0f} decodes, and the server sends {whole:.0f} pictures and {confirmed:.0f} 304s")


def check_viewer(browser):
    name = "photo-12mp-baseline-420.jpg"
    browser.open(f"/viewer?name={name}")
    whole = "'settled' in stage.dataset && glide.target === undefined"
    wait_for(lambda: browser.run(whole), "the viewer")
    for turn in range(4):
        if turn:
            browser.run("document.getElementById('in').click()")
            wait_for(lambda: browser.run(f"glide.target === undefined && zoom > {size[2]} * 1.9 "), "zooming in")
        wait_for(lambda: browser.run(whole), "tiles")
        tiles = browser.run("""(() => {
          const pixels = %s;
          return [...document.querySelectorAll(".stage img.tile")].map((image) => ({src: image.getAttribute("src"), pixels: pixels(image),
            box: [...image.style.transform.matchAll(/-?[\\d.]+(?=px)/g), [image.style.width], [image.style.height]].map((match) => parseFloat(match[0]))}));
        })()""" % PIXELS)
        size = browser.run("[info.width, info.height, zoom, left, top_, stage.clientWidth, stage.clientHeight]")
        wrong, covered = [], 0
        for tile in tiles:
            area = tile["src"].split("/")[3]
            region = [0, 0, size[0], size[1]] if area == "full" else [int(number) for number in area.split(",")]
            placed = [(region[0] - size[3]) * size[2], (region[1] - size[4]) * size[2], region[2] * size[2], region[3] * size[2]]
            if differences(tile["pixels"], reference(os.path.join(folder, name), region)) > 6:
                wrong.append(tile["src"])
            if max(abs(a - b) for a, b in zip(placed, tile["box"])) > 1:
                wrong.append(f"place of {tile['src']}")
            sides = [max(0, min(placed[i] + placed[i + 2], size[5 + i]) - max(0, placed[i])) for i in (0, 1)]
            covered += sides[0] * sides[1]
        sides = [max(0, min(-size[3 + i] * size[2] + size[i] * size[2], size[5 + i]) - max(0, -size[3 + i] * size[2])) for i in (0, 1)]
        if abs(covered - sides[0] * sides[1]) > 0.01 * covered:
            wrong.append(f"{covered:.0f} of {sides[0] * sides[1]:.0f} pixels are covered")
        check(not wrong, f"at {size[2] * 100:.0f} % {len(tiles)} tiles are the right ones, in their places {' '.join(wrong[:3])}")


def aborts(encoding):
    """How many requests were given up so far, and how many of these ended within 50 ms."""
    text = urllib.request.urlopen(site + "/metrics").read().decode()
    counts = dict(re.findall(r'http_abort_seconds_bucket\{encoding="%s",le="([^"]+)"\} (\d+)' % encoding, text))
    return numpy.array([int(counts.get("+Inf", 0)), int(counts.get("0.05", 0))])


def check_aborts(browser):
    before = {outcome: metric(f'http_requests_total{{kind="thumb",outcome="{outcome}"}}') for outcome in ("cancelled", "500", "502")}
    counted = {encoding: aborts(encoding) for encoding in ("no", "begun")}
    waves, during, after = 0, 0, 0
    # Some of them end before they are given up, or never leave the browser.
    while waves < 300 and (aborts("no") - counted["no"])[0] < 200:
        start = cpu(server)
        browser.run("""(async () => {
          const controller = new AbortController();
          const requests = [0, 1, 2, 3, 4, 5].map((index) => fetch(
            `/thumb/${900 + WAVE}x${700 + index},format=webp/photo-12mp-baseline-420.jpg`, {signal: controller.signal}).then(
              (response) => response.blob(), () => null));
          await new Promise((resolve) => setTimeout(resolve, 8 + 4 * (WAVE % 10)));
          controller.abort();
          await Promise.all(requests);
        })()""".replace("WAVE", str(waves)))
        time.sleep(0.05)
        end = cpu(server)
        time.sleep(0.1)
        waves, during, after = waves + 1, during + end - start, after + cpu(server) - end
    total, quick = aborts("no") - counted["no"]
    encodes, quickEncodes = aborts("begun") - counted["begun"]
    cancelled = metric('http_requests_total{kind="thumb",outcome="cancelled"}') - before["cancelled"]
    errors = sum(metric(f'http_requests_total{{kind="thumb",outcome="{o}"}}') - before[o] for o in ("500", "502"))
    check(total >= 200 and (isSmoke or quick >= 0.95 * total), f"{quick} of {total} requests that were given up ended within 50 ms ({cancelled:.0f} cancelled)")
    print(f"      besides, {quickEncodes} of {encodes} whose encode had begun")
    check(after < 0.01 * waves, f"from 50 to 150 ms after each wave of six they take {after / waves * 1e3:.1f} ms of CPU; until then {during / waves * 1e3:.0f} ms")
    check(errors == 0, f"{errors:.0f} of them count as errors")


class Failing(http.server.BaseHTTPRequestHandler):
    """Sends a red picture once, for the placeholder, and fails from then on."""

    requests = 0

    def do_GET(self):
        Failing.requests += 1
        isFirst = Failing.requests == 1
        body = io.BytesIO()
        Image.new("RGB", (400, 300), (220, 20, 20)).save(body, "PNG")
        self.send_response(200 if isFirst else 500)
        self.send_header("Content-Type", "image/png" if isFirst else "text/plain")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body.getvalue() if isFirst else b"")

    def log_message(self, *_):
        pass


failures = []
origin = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[4])), Failing)
threading.Thread(target=origin.serve_forever, daemon=True).start()
failing = f"http://127.0.0.1:{sys.argv[4]}/failing.png"
browser = Browser(site, screenshots)
try:
    check_grid(browser, failing)
    check_failure(browser, failing)
    check_second_visit(browser)
    check_viewer(browser)
    check_aborts(browser)
    browser.open("/traces")
    browser.wait("document.querySelectorAll('#rows li').length > 10", "the traces")
    check(True, "the traces are shown")
finally:
    browser.close()
print(f"{len(failures)} failures")
sys.exit(len(failures) > 0)
