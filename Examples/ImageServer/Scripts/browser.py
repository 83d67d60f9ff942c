#!/usr/bin/env python3
"""Drives headless Chromium over the gallery of a running server, and checks what it shows against Pillow.

  browser.py PORT FOLDER SCREENSHOTS ORIGIN PID [--smoke]    the server's port, its pictures, where screenshots go, the port
                                                             at which this script serves the picture whose origin fails,
                                                             the server's process; --smoke measures, and fails on nothing
                                                             that depends on the machine's speed
"""
import base64
import contextlib
import http.server
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import numpy
from PIL import Image
from websockets.sync.client import connect

from processes import cpu

port, folder, screenshots, server = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[5]
isSmoke = "--smoke" in sys.argv
site = f"http://127.0.0.1:{port}"
Image.MAX_IMAGE_PIXELS = None


class Browser:
    """A page of a Chromium, over the DevTools protocol."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             f"--user-data-dir={self.profile.name}", "--window-size=1280,800", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = os.path.join(self.profile.name, "DevToolsActivePort")
        wait_for(lambda: os.path.exists(file) and len(open(file).read().split()) == 2, "Chromium")
        tools = open(file).read().split()[0]
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{tools}/json/list"))
        page = next(page for page in pages if page["type"] == "page")
        self.socket = contextlib.ExitStack().enter_context(connect(page["webSocketDebuggerUrl"], max_size=None))
        self.number, self.events = 0, []
        for domain in ("Page", "Runtime", "Network", "Accessibility"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def run(self, script):
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description"))
        return result["result"].get("value")

    def open(self, path):
        self.send("Page.navigate", url=site + path)
        wait_for(lambda: self.run("document.readyState") == "complete", path)

    def screenshot(self, name):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(os.path.join(screenshots, name), "wb") as file:
            file.write(base64.b64decode(data))
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")

    def close(self):
        self.send("Browser.close")
        self.process.wait(30)


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def check(condition, text):
    print(("ok    " if condition else "FAIL  ") + text, flush=True)
    failures.extend([] if condition else [text])


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


def check_grid(browser, failing):
    browser.send("Page.addScriptToEvaluateOnNewDocument", source="""
      window.shift = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; })
        .observe({type: "layout-shift", buffered: true});""")
    browser.open("/")
    wait_for(lambda: everything_in_sight(browser), "the first screen")
    browser.screenshot("gallery.png")
    for _ in scroll(browser, [*range(0, 11), *range(10, -1, -1)]):
        pass
    for _ in scroll(browser, range(0, 11)):
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
    for _ in scroll(browser, range(0, 11)):
        wait_for(lambda: everything_in_sight(browser), "a screen of the second visit")
    decodes, whole, confirmed = metric(decoded) - before[0], metric(sent % 200) - before[1], metric(sent % 304) - before[2]
    check(decodes == whole == 0, f"a second visit makes {decodes:.0f} decodes, and the server sends {whole:.0f} pictures and {confirmed:.0f} 304s")


def check_viewer(browser):
    name = "photo-12mp-baseline-420.jpg"
    browser.open(f"/viewer?iiif=%2Fiiif%2F{name}")
    whole = "document.querySelectorAll('.stage img').length > 0 && [...document.querySelectorAll('.stage img')].every((i) => i.complete && i.naturalWidth)"
    wait_for(lambda: browser.run(whole), "the viewer")
    browser.screenshot("viewer.png")
    seen = 0
    for turn in range(4):
        if turn:
            browser.run("document.getElementById('in').click()")
        wait_for(lambda: browser.run(whole), "tiles")
        tiles = browser.run("""(() => {
          const pixels = %s;
          return [...document.querySelectorAll(".stage img")].map((image) => ({src: image.getAttribute("src"), pixels: pixels(image),
            box: ["left", "top", "width", "height"].map((side) => parseFloat(image.style[side]))}));
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
        seen += len(tiles)
        if abs(covered - sides[0] * sides[1]) > 0.01 * covered:
            wrong.append(f"{covered:.0f} of {sides[0] * sides[1]:.0f} pixels are covered")
        check(not wrong, f"at {size[2] * 100:.0f} % {len(tiles)} tiles are the right ones, in their places {' '.join(wrong[:3])}")
    browser.screenshot("viewer-zoomed.png")


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


# What is wrong with a page for people who can't see it, use no pointer, or see little contrast.
CONTRAST = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const background = (element) => {
    for (; element; element = element.parentElement) {
      const colour = channels(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  };
  const wrong = [];
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || !element.checkVisibility()) continue;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(background(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) wrong.push(`${element.localName} "${element.textContent.trim().slice(0, 20)}" ${ratio.toFixed(1)}`);
  }
  return wrong;
})()"""
FOCUSED = """(() => {
  const element = document.activeElement, style = getComputedStyle(element);
  return [[...document.querySelectorAll("a[href], button, [tabindex]")].indexOf(element),
    style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
})()"""


def check_accessibility(browser, path):
    """Names by Chromium's accessibility tree, the order of focus by the key, and contrast by computed styles (WCAG 2.2)."""
    browser.open(path)
    wait_for(lambda: browser.run("document.images.length + document.querySelectorAll('tr').length > 1"), path)
    wrong = []
    for node in browser.send("Accessibility.getFullAXTree")["nodes"]:
        role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "").strip()
        if not node.get("ignored") and role in ("link", "button", "image", "img", "application", "RootWebArea", "heading") and not name:
            wrong.append(f"{role} without a name")
    for selector in ("html[lang]", "title", "h1", "main"):
        if browser.run(f"document.querySelectorAll('{selector}').length") != 1:
            wrong.append(f"not one {selector}")
    stops = min(12, browser.run("document.querySelectorAll('a[href], button, [tabindex]').length"))
    for stop in range(stops):
        for kind in ("keyDown", "keyUp"):
            browser.send("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        index, isOutlined = browser.run(FOCUSED)
        if index != stop or not isOutlined:
            wrong.append(f"stop {stop} of the focus is element {index}, {'with' if isOutlined else 'without'} an outline")
    for scheme in ("light", "dark"):
        browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        wrong += [f"{scheme}: {text}" for text in browser.run(CONTRAST)]
    browser.send("Emulation.setEmulatedMedia", features=[])
    check(not wrong, f"{path.split('?')[0]}: names, {stops} stops of the focus and contrasts are right {'; '.join(wrong[:5])}")


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
os.makedirs(screenshots, exist_ok=True)
browser = Browser()
try:
    check_grid(browser, failing)
    check_failure(browser, failing)
    check_second_visit(browser)
    check_viewer(browser)
    check_aborts(browser)
    browser.open("/traces")
    wait_for(lambda: browser.run("document.querySelectorAll('#rows tr').length") > 10, "the traces")
    check(True, "the traces are shown")
    browser.screenshot("traces.png")
    for path in ("/", "/viewer?iiif=%2Fiiif%2Fphoto-12mp-baseline-420.jpg", "/traces"):
        check_accessibility(browser, path)
finally:
    browser.close()
print(f"{len(failures)} failures; screenshots are in {screenshots}")
sys.exit(len(failures) > 0)
