#!/usr/bin/env python3
"""Looks at the gallery as visitors do: at three widths, in light, dark and forced colours, without a script, by touch, wheel
and keys. Screenshots of everything go to a folder, for people.

  looks.py PORT SCREENSHOTS AXE [--smoke]    the port of a server that has just been started with an empty cache, where
                                             screenshots go, axe-core's script; --smoke only prints what depends on the
                                             machine's speed
"""
import os
import statistics
import sys
import time
import urllib.request

import numpy
from PIL import Image

from chromium import Browser, check, failures, wait_for

port, screenshots = int(sys.argv[1]), sys.argv[2]
isSmoke = "--smoke" in sys.argv
site = f"http://127.0.0.1:{port}"
with open(sys.argv[3]) as file:
    AXE = file.read()
PAGES = {"gallery": "/", "viewer": "/viewer?name=dunes.webp", "traces": "/traces"}
WIDTHS = {390: 844, 800: 1000, 1440: 900}
MODES = {"light": {"prefers_color_scheme": "light"}, "dark": {"prefers_color_scheme": "dark"}, "forced": {"forced_colors": "active"}}
READY = {
    "gallery": "[...document.querySelectorAll('.grid img')].filter((i) => i.getBoundingClientRect().top < innerHeight)"
               ".every((i) => i.complete && i.naturalWidth)",
    "viewer": "'settled' in stage.dataset",
    "traces": "document.querySelectorAll('#rows li').length > 10",
}


def check_first_byte():
    """The page comes at once, while its placeholders are still being made."""
    times, missing = [], []
    for _ in range(8):
        start = time.monotonic()
        with urllib.request.urlopen(site) as response:
            response.read(1)
            times.append((time.monotonic() - start) * 1e3)
            missing.append(response.read().count(b'data-hash=""'))
        time.sleep(0.05)
    check(isSmoke or max(times) < 50, f"the first byte comes after {max(times):.0f} ms at most, with {missing[0]} to {missing[-1]} placeholders missing")
    wait_for(lambda: b'data-hash=""' not in urllib.request.urlopen(site).read(), "placeholders", 120)


def check_first_paint(browser):
    """Placeholders are painted with the page, once no picture is being made meanwhile."""
    times = []
    browser.open("/")
    browser.wait(READY["gallery"], "the gallery")
    for _ in range(7):
        # A page that is left takes its time, too.
        browser.send("Page.navigate", url="about:blank")
        time.sleep(0.5)
        browser.open("/")
        browser.wait("performance.getEntriesByName('first-contentful-paint').length > 0", "the first paint")
        times.append(browser.run("Math.max(...['first-contentful-paint', 'placeholders'].map((name) => performance.getEntriesByName(name)[0].startTime))"))
    check(isSmoke or statistics.median(times) < 200, f"placeholders are painted after {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f})")


# Whatever else is wrong with a page: parts that don't fit, and targets of less than 44 pixels.
FAULTS = """(() => {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} pixels wide`);
  for (const element of document.querySelectorAll("button, input, a.icon, a.chip, .grid a, .back")) {
    const { width, height } = element.getBoundingClientRect();
    if (element.checkVisibility() && (width < 44 || height < 44)) faults.push(`${element.id || element.localName} is ${width} × ${height}`);
  }
  return faults;
})()"""
VIOLATIONS = """axe.run({resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
  .then(({violations}) => violations.map(({id, nodes}) => `${id}: ${nodes.map((node) => node.target).slice(0, 3).join(", ")}`))"""


def check_pages(browser):
    for width, height in WIDTHS.items():
        browser.resize(width, height, is_phone=width < 500)
        for mode, features in MODES.items():
            browser.media(**features)
            for page, path in PAGES.items():
                browser.open(path)
                browser.wait(READY[page], page)
                faults = browser.run(FAULTS)
                browser.run(AXE + "; 0")
                # Contrast is the system's where its colours are forced.
                faults += [fault for fault in browser.run(VIOLATIONS) if mode != "forced" or not fault.startswith("color-contrast")]
                shift = browser.run("shift")
                # New traces come in above the others while nobody reads.
                if shift > 0 and page != "traces":
                    faults.append(f"layout shift of {shift:.4f}")
                browser.screenshot(f"{page}-{width}-{mode}.png")
                check(not faults, f"{page}, {width} pixels, {mode}: no violation, no shift, everything fits {'; '.join(faults)}")
    browser.media()


def check_hover(browser):
    """A picture's name, size and format come with the pointer."""
    browser.resize(1440, 900)
    browser.open("/")
    browser.wait(READY["gallery"], "the gallery")
    opacity = "getComputedStyle(document.querySelectorAll('.caption')[1]).opacity"
    before = browser.run(opacity)
    box = browser.run("(({x, y}) => ({x, y}))(document.querySelectorAll('.grid a')[1].getBoundingClientRect())")
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=box["x"] + 60, y=box["y"] + 60)
    browser.wait(f"{opacity} === '1'", "the caption")
    text = browser.run("document.querySelectorAll('.caption')[1].innerText.replace(/\\s+/g, ' ')")
    time.sleep(0.6)
    # In 256 colours it is small enough for the repository, as Pictures/gallery.png.
    picture = browser.screenshot("gallery-1440-hover.png")
    picture.quantize(palette=picture.quantize(256, kmeans=4), dither=Image.Dither.FLOYDSTEINBERG).save(
        os.path.join(screenshots, "gallery.png"), optimize=True)
    check(before == "0" and " × " in text and "KB" in text, f"the pointer brings \"{text}\"")
    browser.run("filter.value = 'png'; filter.dispatchEvent(new Event('input'))")
    shown = browser.run("[...document.querySelectorAll('.grid li')].filter((e) => !e.hidden).map((e) => e.textContent)")
    check(0 < len(shown) < browser.run("cells.length") and all("PNG" in text for text in shown), f"the filter leaves {len(shown)} PNGs")


def check_without_script(browser):
    """Without a script no button is shown, and links lead to whole pictures."""
    seen = """[[...document.querySelectorAll("button, input")].filter((e) => e.checkVisibility()).length,
      [...document.images].filter((i) => i.complete && i.naturalWidth > 300).length, document.querySelector('.grid a')?.getAttribute('href')]"""
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    for width, height in WIDTHS.items():
        browser.resize(width, height, is_phone=width < 500)
        for page, path in PAGES.items():
            browser.open(path)
            time.sleep(0.5)
            buttons, large, link = browser.run(seen)
            browser.screenshot(f"{page}-{width}-no-script.png")
            isRight = {"gallery": large > 3 and link.startswith("/viewer?"), "viewer": large == 1, "traces": True}[page]
            check(buttons == 0 and isRight, f"{page}, {width} pixels, no script: {buttons} buttons, {large} pictures")
    browser.send("Emulation.setScriptExecutionDisabled", value=False)


def view(browser, name):
    browser.open(f"/viewer?name={name}")
    browser.wait(READY["viewer"] + " && pictures.length > 0", "the viewer")


def still(browser):
    browser.wait("'settled' in stage.dataset && glide.target === undefined", "tiles")
    return browser.run("({zoom, fit: fit(), left, top: top_, width: info.width, height: info.height, w: stage.clientWidth / zoom, h: stage.clientHeight / zoom})")


def is_in_sight(now):
    """Whether the picture fills the stage, or all of it is there, on either axis."""
    return all(now[w] >= now[size] - 1 or -0.5 <= now[start] <= now[size] - now[w] + 0.5 for w, size, start in (("w", "width", "left"), ("h", "height", "top")))


# Watches each frame: how much of the picture's part of the stage no decoded image covers.
WATCH = """(() => {
  window.watched = [];
  const above = stage.getBoundingClientRect().top;
  const contains = (outer, [l, t, r, b]) => outer.left <= l + 1 && outer.top - above <= t + 1 && outer.right >= r - 1 && outer.bottom - above >= b - 1;
  const look = () => {
    const box = [Math.max(0, -left * zoom), Math.max(0, -top_ * zoom), Math.min(stage.clientWidth, (info.width - left) * zoom), Math.min(stage.clientHeight, (info.height - top_) * zoom)];
    const covers = [...stage.querySelectorAll("img")].some((image) => image.complete && image.naturalWidth
      && contains(image.getBoundingClientRect(), box));
    watched.push([performance.now(), covers, zoom]);
    window.watching = setTimeout(look, 16);
  };
  look();
})()"""


def check_frames(browser):
    """No frame is black while the viewer zooms: by what the page has each 16 ms, and by the painted frames."""
    browser.resize(1440, 900)
    view(browser, "wind-rose.png")
    still(browser)
    browser.run(WATCH)
    browser.run("""(async () => { for (const key of ["+", "+", "+", "-", "+", "-", "-", "-", "-"]) {
        dispatchEvent(new KeyboardEvent("keydown", {key})); await new Promise((done) => setTimeout(done, 350)); } })(); 0""")
    frames = browser.frames(4)
    browser.run("""(async () => { for (const key of ["PageUp", "PageDown"]) {
        dispatchEvent(new KeyboardEvent("keydown", {key})); await new Promise((done) => setTimeout(done, 1200)); } })(); 0""")
    frames += browser.frames(3)
    still(browser)
    watched = browser.run("clearTimeout(watching), watched")
    bare = sum(not covers for _, covers, _ in watched)
    # The middle of this picture has no dark pixels, nor that of the one before it.
    dark = [float((numpy.asarray(frame.crop((frame.width * 3 // 8, frame.height * 3 // 8, frame.width * 5 // 8, frame.height * 5 // 8))).max(axis=2) < 24).mean()) for frame in frames]
    check(len(watched) > 20 and bare == 0, f"{bare} of {len(watched)} samples during zooms have a part that nothing covers")
    check(len(frames) > 5 and max(dark) < 0.02, f"of {len(frames)} painted frames the darkest has {100 * max(dark):.1f} % black pixels")


def check_wheel_and_keys(browser):
    view(browser, "dunes.webp")
    start = still(browser)
    point = {"x": 900, "y": 500}
    header = browser.run("stage.getBoundingClientRect().top")
    under = lambda now: (now["left"] + point["x"] / now["zoom"], now["top"] + (point["y"] - header) / now["zoom"])
    browser.send("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-240, **point)
    first = still(browser)
    browser.send("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-240, **point)
    second = still(browser)
    moved = max(abs(a - b) * second["zoom"] for a, b in zip(under(first), under(second)))
    check(second["zoom"] > first["zoom"] > start["zoom"] and moved < 1.5, f"the wheel zooms from {start['zoom']:.2f} to {second['zoom']:.2f}; what is under the pointer moves by {moved:.1f} pixels")
    browser.run("document.body.focus()")
    browser.press("0")
    whole = still(browser)
    browser.press("-")
    check(abs(still(browser)["zoom"] - whole["fit"]) < 1e-6 and abs(whole["zoom"] - whole["fit"]) < 1e-6, "0 shows the whole picture, and - zooms out no further")
    browser.press("+")
    browser.press("+")
    zoomed = still(browser)
    check(abs(zoomed["zoom"] / whole["zoom"] - 4) < 0.01, "+ twice zooms by four")
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        for _ in range(40):
            browser.press(key)
        now = still(browser)
        if not is_in_sight(now):
            check(False, f"{key}: the picture is lost at {now}")
    browser.screenshot("viewer-zoomed.png")
    check(now != zoomed and is_in_sight(now), "the arrows move the picture, and can't lose it")
    browser.run("document.querySelector('#whole').click()")
    still(browser)
    name = browser.run("picture.name")
    for key, code in (("PageDown", 34), ("]", 221), ("PageUp", 33), ("[", 219)):
        before = browser.run("picture.name")
        browser.press(key, code)
        browser.wait(f"picture.name !== '{before}' && document.querySelector('h1').textContent === pictures.find((p) => p.name === picture.name).title", key)
        still(browser)
    check(browser.run("picture.name") == name and browser.run("location.search").startswith("?name=dunes"), "Page Down, ], Page Up and [ change the picture and the address")
    browser.press("Escape", 27)
    browser.wait("location.pathname === '/' && document.readyState === 'complete'", "Escape")
    check(True, "Escape leads to the gallery")


def check_touch(browser):
    browser.resize(390, 844, is_phone=True)
    view(browser, "dunes.webp")
    start = still(browser)

    def touch(kind, *points):
        browser.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)])

    touch("touchStart", (175, 400), (215, 400))
    for step in range(1, 13):
        touch("touchMove", (175 - 8 * step, 400), (215 + 8 * step, 400))
    touch("touchEnd")
    pinched = still(browser)
    check(4 < pinched["zoom"] / start["zoom"] < 7, f"a pinch from 40 to 232 pixels zooms by {pinched['zoom'] / start['zoom']:.1f}")
    browser.screenshot("viewer-390-pinched.png")
    for dx, dy in ((300, 0), (-300, 0), (0, 500), (0, -500)) * 4:
        touch("touchStart", (195, 400))
        for step in range(1, 6):
            touch("touchMove", (195 + dx * step / 5, 400 + dy * step / 5))
        touch("touchEnd")
        if not is_in_sight(still(browser)):
            check(False, "a drag loses the picture")
    check(is_in_sight(still(browser)), "drags can't lose the picture")
    touch("touchStart", (80, 400), (310, 400))
    for step in range(1, 13):
        touch("touchMove", (80 + 9 * step, 400), (310 - 9 * step, 400))
    touch("touchEnd")
    check(abs(still(browser)["zoom"] - start["fit"]) < 1e-6, "a pinch back ends at the whole picture")
    name = browser.run("picture.name")
    touch("touchStart", (300, 400))
    for step in range(1, 6):
        touch("touchMove", (300 - 40 * step, 400))
    touch("touchEnd")
    browser.wait(f"picture.name !== '{name}'", "the swipe")
    check(True, "a swipe leads to the next picture")


FOCUSED = """(() => {
  const stops = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled);
  const element = document.activeElement, style = getComputedStyle(element);
  return [stops.indexOf(element), stops.length, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
})()"""


def check_focus(browser):
    """Tab takes the stops in the order of the page, each with an outline."""
    browser.resize(1440, 900)
    for page, path in PAGES.items():
        browser.open(path)
        browser.wait(READY[page], page)
        wrong, stop = [], 0
        while stop < 14:
            browser.press("Tab", 9)
            index, count, isOutlined = browser.run(FOCUSED)
            if index < 0:
                break
            if index != stop or not isOutlined:
                wrong.append(f"stop {stop} is element {index}, {'with' if isOutlined else 'without'} an outline")
            stop += 1
        if page == "gallery":
            browser.screenshot("gallery-focus.png")
        check(not wrong and stop >= min(count, 14), f"{page}: {stop} stops of the focus are in order, with outlines {'; '.join(wrong[:3])}")


def check_traces(browser):
    browser.open("/traces")
    browser.wait(READY["traces"], "the traces")
    pieces = browser.run("[...document.querySelectorAll('#rows .bar')].map((bar) => bar.children.length)")
    check(min(pieces) > 0, f"{len(pieces)} bars have {min(pieces)} to {max(pieces)} pieces")
    browser.run("filter.value = 'dunes'; filter.dispatchEvent(new Event('input'))")
    shown = browser.run("[...rows.children].filter((row) => !row.hidden).map((row) => row.querySelector('b').textContent)")
    check(shown and all("dunes" in name for name in shown), f"the filter leaves {len(shown)} rows")
    browser.run("filter.value = ''; filter.dispatchEvent(new Event('input')); pause.click()")
    before = browser.run("rows.firstChild.value")
    urllib.request.urlopen(site + f"/thumb/{300 + int(time.time()) % 1000}x200/waves.png").read()
    browser.wait("!newer.hidden", "newer rows")
    check(browser.run("rows.firstChild.value") == before, "while paused, rows stay where they are, and newer ones are counted")
    browser.run("pause.click()")
    check(browser.run("rows.firstChild.value") > before, "then the newest is first")
    browser.run("rows.querySelector('summary').click()")
    browser.wait("rows.querySelector('td') !== null", "the stages")
    browser.screenshot("traces-opened.png")


check_first_byte()
browser = Browser(site, screenshots)
try:
    check_first_paint(browser)
    check_pages(browser)
    check_hover(browser)
    check_without_script(browser)
    check_frames(browser)
    check_wheel_and_keys(browser)
    check_touch(browser)
    check_focus(browser)
    check_traces(browser)
finally:
    browser.close()
print(f"{len(failures)} failures; screenshots are in {screenshots}")
sys.exit(len(failures) > 0)
