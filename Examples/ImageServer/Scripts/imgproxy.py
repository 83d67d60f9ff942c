#!/usr/bin/env python3
"""Asks a server for the paths in imgproxy's own tests, and compares the sizes that imgproxy's tests expect.

  imgproxy.py BINARY FOLDER RUN    the server's program, a clone of imgproxy, a folder for this run

The tests of the parser (options/parser/processing_options_test.go) and of paths (handlers/path_test.go) are functions and
tables in Go, from which the paths are read by their text. A path is understood if the server makes the picture, in the
format and of the source that the test expects, or refuses what imgproxy refuses. It is refused if the server answers with a
4xx where imgproxy makes a picture. Anything else is misunderstood, which is always a failure.

Left out are tests of settings that change the source's address (a base URL, replacements), of forbidden options, and of
header fields. Tests of settings that change how options are written count as refused.

The tests of processing (processing/processing_test.go) have tables of options with the size of the result.
"""
import base64
import http.server
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import zlib

binary, clone, run = sys.argv[1:4]
# At least 42 of 46 paths, which is 91 %.
SHARE = 0.91
OTHER_SETTINGS = ("BaseURL =", "URLReplacements =", "AllowedProcessingOptions =", "clientfeatures.Features")
LEFT_OUT_SETTINGS = {"ArgumentsSeparator =": "the separator is a setting", "OnlyPresets =": "only presets is a setting"}
FORMATS = {"PNG": "image/png", "WEBP": "image/webp", "JPEG": "image/jpeg", "AVIF": "image/avif"}


def png(width, height):
    """A grey picture (RFC 2083)."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    rows = (b"\0" + b"\x80" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# The size of imgproxy's own picture, to which its tables refer.
PICTURE = png(200, 100)


class Origin(http.server.BaseHTTPRequestHandler):
    """Answers each path with the picture, and remembers the last one."""
    last = None

    def do_GET(self):
        Origin.last = self.path
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(PICTURE)))
        # Each path is to be asked for again.
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(PICTURE)

    def log_message(self, *_):
        pass


class Server:
    """The image server with presets, in `with`."""
    count = 0

    def __init__(self, presets):
        Server.count += 1
        options = [word for preset in presets for word in ("--imgproxy-preset", preset)]
        self.command = [
            binary, "--port", "0", "--unsigned", "--rate", "0", "--cache", f"{run}/cache-{Server.count}", "--folder", f"{run}/pictures",
            "--allow", site + "/", "--allow-address", "127.0.0.1"] + options

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on port "):
                self.port = int(line.split()[-1])
                return self
        sys.exit("The server didn't start.")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def get(self, path):
        Origin.last = None
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
                return response.status, response.headers["Content-Type"], response.read()
        except urllib.error.HTTPError as error:
            return error.code, "", error.read()


class Case:
    """A path, and what imgproxy's test expects of it."""
    def __init__(self, name, path, source=None, format=None, fails=False, presets=(), setting=None):
        self.name, self.path, self.source, self.format = name, path, source, format
        self.fails, self.presets, self.setting = fails, presets, setting


def local(text):
    """The text with the hosts of URLs replaced by this machine's origin. Merged slashes stay merged."""
    return re.sub(r"https?:(/{1,2})[\w.-]+", lambda match: "http:" + match[1] + site[7:], text)


def strings(text):
    return re.findall(r'"([^"]*)"', text)


def parser_cases():
    text = open(f"{clone}/options/parser/processing_options_test.go").read()
    for name, body in re.findall(r"^func \(s \*ProcessingOptionsTestSuite\) Test(\w+)\(\) \{\n(.*?)^\}", text, re.M | re.S):
        if any(word in body for word in OTHER_SETTINGS):
            continue
        source = re.search(r'originURL := "(.*?)"', body)
        source = local(source[1]) if source else None
        line = re.search(r"path := (.*)", body)[1]
        path = local(strings(line)[0])
        if "EncodeToString" in line:
            path = path.replace("%s", base64.urlsafe_b64encode(source.encode()).decode().rstrip("="))
        elif "PathEscape" in line:
            path = path.replace("%s", urllib.parse.quote(source, safe=""))
        elif "+" in line:
            path = path + source + "".join(strings(line)[1:])
        elif source:
            path = path.replace("%s", source)
        format = re.search(r"imagetype\.(\w+), options\.Get\(o, keys\.Format", body)
        presets = re.search(r"Presets = \[\]string\{(.*?)\}", body, re.S)
        setting = next((text for word, text in LEFT_OUT_SETTINGS.items() if word in body), None)
        yield Case(
            name, "/any" + path, source, FORMATS.get(format[1]) if format else None, ".Error(" in body,
            tuple(strings(presets[1])) if presets else (), setting)


def path_cases():
    text = open(f"{clone}/handlers/path_test.go").read()
    for table in re.findall(r"testCases := \[\]struct \{.*?\n\t\}\n", text, re.S):
        for entry in re.findall(r"\{\n(\t\t\tname:.*?)\n\t\t\}", table, re.S):
            fields = {match[0]: match[1] for match in re.findall(r'(\w+):\s+"?(.*?)"?,\n', entry + "\n")}
            if "requestPath" in fields:
                path, prefix = fields["requestPath"], fields.get("pathPrefix", "")
                path, fails = path.removeprefix(prefix), fields["expectedError"] == "true"
                expected = fields["expectedPath"]
            else:
                path, expected = "/any/" + fields["input"].removeprefix("/"), fields["expected"]
                # What imgproxy's parser refuses: nothing, an option without an argument, and what names no host.
                fails = not re.search(r"(^|/)plain/.*\w+[^:]$", expected)
            # The table's place for base64 isn't base64 of a source.
            encoded = base64.urlsafe_b64encode(f"{site}/image.jpg".encode()).decode().rstrip("=")
            path = local(path).replace("abc/abc", encoded[:6] + "/" + encoded[6:])
            source = re.search(r"https?://.*", expected)
            yield Case(fields["name"], path, local(source[0]) if source else None, fails=fails)


def judge(case, server):
    """The verdict, and what to print."""
    if case.setting:
        return "refused", case.setting
    status, type, body = server.get("/imgproxy" + case.path)
    if status == 200:
        asked = site + Origin.last if Origin.last else None
        if case.fails:
            return "misunderstood", "imgproxy refuses it"
        if case.format and type != case.format:
            return "misunderstood", f"{type} instead of {case.format}"
        if case.source and asked != (case.source if case.source.count("/") > 2 else case.source + "/"):
            return "misunderstood", f"the origin got {asked} instead of {case.source}"
        return "understood", ""
    text = body.decode(errors="replace")
    if 400 <= status < 500:
        return ("understood", "") if case.fails else ("refused", text)
    return "misunderstood", f"{status} {text}"


def size_cases():
    """Options and sizes from the tables of the tests of processing."""
    text = open(f"{clone}/processing/processing_test.go").read()
    names = {"limit": None, "width": 1, "height": 2}
    for name, body in re.findall(r"^func \(s \*ProcessingTestSuite\) Test(Resize\w+)\(\) \{\n(.*?)^\}", text, re.M | re.S):
        kind = re.search(r"processing\.Resize(\w+)$", body, re.M)
        kind = {"FillDown": "fill-down"}.get(kind[1], kind[1].lower()) if kind else "fit"
        flags = [word for field, word in (("enlarge", "el:1"), ("extend", "ex:1"), ("extendAR", "exar:1")) if f"tc.opts.{field} = true" in body]
        for fields, width, height in re.findall(r"sizeTestCase\{(.*?)\}, outSize: testSize\{(\d+), (\d+)\}", body, re.S):
            values = {match[0]: int(match[1]) for match in re.findall(r"(\w+):\s*(\d+)", fields)}
            if set(values) - {"width", "height", "paddingTop", "paddingRight", "paddingBottom", "paddingLeft", "rotate"}:
                continue
            words = [f"rs:{kind}:{values.get('width', 0)}:{values.get('height', 0)}"] + flags
            if any(field.startswith("padding") for field in values):
                words.append("pd:" + ":".join(str(values.get("padding" + edge, 0)) for edge in ("Top", "Right", "Bottom", "Left")))
            if "rotate" in values:
                words.append(f"rot:{values['rotate']}")
            yield "/".join(words), (int(width), int(height))


origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
threading.Thread(target=origin.serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{origin.server_port}"
for name in ("image.jpg", "example.com/image.jpg"):
    os.makedirs(os.path.dirname(f"{run}/pictures/{name}"), exist_ok=True)
    open(f"{run}/pictures/{name}", "wb").write(PICTURE)

cases = list(parser_cases()) + list(path_cases())
counts = {"understood": 0, "refused": 0, "misunderstood": 0}
for presets in dict.fromkeys(case.presets for case in cases):
    with Server(presets) as server:
        for case in cases:
            if case.presets == presets:
                verdict, reason = judge(case, server)
                counts[verdict] += 1
                print(f"{verdict:13} {case.name:40} {case.path[:90]}" + (f"\n{'':14}{reason}" if reason else ""))
sizes, wrong = list(size_cases()), 0
with Server(()) as server:
    for options, expected in sizes:
        status, _, body = server.get(f"/imgproxy/any/{options}/plain/image.jpg@png")
        size = struct.unpack(">II", body[16:24]) if status == 200 else body.decode(errors="replace")
        if size != expected:
            wrong += 1
            print(f"wrong size    {options}: {size} instead of {expected}")
share = counts["understood"] / len(cases)
print(f"{counts['understood']} of {len(cases)} paths understood ({share:.0%}), {counts['refused']} refused, {counts['misunderstood']} misunderstood; "
      f"{len(sizes) - wrong} of {len(sizes)} sizes")
sys.exit(share < SHARE or counts["misunderstood"] > 0 or wrong > 0 or not sizes)
