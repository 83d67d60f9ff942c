"""A headless Chromium for the checks of pages, and what they say."""
import base64
import contextlib
import io
import json
import os
import subprocess
import tempfile
import time
import urllib.request

from PIL import Image
from websockets.sync.client import connect

failures = []


class Browser:
    """A page of a Chromium, over the DevTools protocol, that shows a site's paths."""

    def __init__(self, site, screenshots):
        self.site, self.screenshots = site, screenshots
        os.makedirs(screenshots, exist_ok=True)
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             # A mouse, which headless browsers lack.
             "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
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
        self.resize(1280, 800)
        self.send("Page.addScriptToEvaluateOnNewDocument", source="""
          window.shift = 0;
          new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; })
            .observe({type: "layout-shift", buffered: true});""")

    def resize(self, width, height, is_phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if is_phone else 1, mobile=is_phone)
        self.send("Emulation.setTouchEmulationEnabled", enabled=is_phone)

    def media(self, **features):
        """Sets media features, such as prefers_color_scheme="dark", and no others."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def press(self, key, code=0):
        """Presses a key, for real: it moves the focus, too."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def frames(self, seconds):
        """The frames that are painted within a time."""
        frames, end = [], time.monotonic() + seconds
        self.send("Page.startScreencast", format="jpeg", quality=70, everyNthFrame=1)
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                self.events.append(json.loads(self.socket.recv(timeout=0.05)))
            for event in [event for event in self.events if event.get("method") == "Page.screencastFrame"]:
                self.events.remove(event)
                frames.append(Image.open(io.BytesIO(base64.b64decode(event["params"]["data"]))).convert("RGB"))
                self.send("Page.screencastFrameAck", sessionId=event["params"]["sessionId"])
        self.send("Page.stopScreencast")
        return frames

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=120))
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
        self.send("Page.navigate", url=self.site + path)
        wait_for(lambda: self.run("document.readyState") == "complete", path)

    def wait(self, script, what):
        wait_for(lambda: self.run(script), what)

    def screenshot(self, name):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(os.path.join(self.screenshots, name), "wb") as file:
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
