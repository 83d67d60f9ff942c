#!/usr/bin/env python3
"""Has REDbot check one URL of each kind of a running server. A note that it calls bad is a failure, and so is a warning that
isn't explained here and in the README.

  Scripts/notes.py SITE [PATH…]    by default all kinds

One process checks all of them concurrently: the command `redbot` checks one, and then waits 5 s for its idle connections.
"""
import configparser
import json
import sys
import time
import urllib.request

import thor
from redbot.resource import HttpResource

EXPLAINED = {
    "VARY_COMPLEX": "thumbnails depend on the client's hints, each in its current and its older name",
    "STATUS_BAD_REQUEST": "the request is malformed on purpose",
}
PICTURES = [
    "/thumb/320x240,cover/pattern-000.jpg", "/imgproxy/any/rs:fill:100:100/plain/pattern-000.jpg@webp",
    "/iiif/pattern-000.jpg/full/200,/0/default.jpg",
]
PATHS = PICTURES + [
    "/iiif/pattern-000.jpg/info.json", "/iiif/pattern-000.jpg", "/", "/viewer?name=pattern-000.jpg", "/gallery.js", "/traces.json",
    "/health/live", "/health/ready", "/metrics", "/nothing", "/thumb/320x240/missing.jpg", "/thumb/0x0/a.jpg",
    "/thumb/10x10/http:%2F%2Fexample.com%2Fa.jpg",
]
site, paths = sys.argv[1], sys.argv[2:] or PATHS
failed, left = 0, len(paths)


def done():
    global left
    left -= 1
    if left == 0:
        thor.stop()


def report(path, resource):
    global failed
    if not resource.response.complete:
        failed += 1
        print(f"FAIL {path}: {resource.fetch_error or 'no whole response'}")
        return
    print(f"{resource.response.status_code} {path}")
    notes = [note for top in resource.response.notes for note in [top, *top.subnotes]]
    for level, name, summary in sorted({(note.level.name, type(note).__name__, str(note.summary)) for note in notes}):
        if level in ("GOOD", "INFO"):
            continue
        isExplained = level == "WARN" and name in EXPLAINED
        failed += not isExplained
        why = f": {EXPLAINED[name]}" if isExplained else ""
        print(f"  {'ok  ' if isExplained else 'FAIL'} {level} {name}: {summary.rstrip('.')}{why}")
    # What REDbot found out by further requests.
    if path in PICTURES and not (resource.partial_support and resource.inm_support):
        failed += 1
        print(f"  FAIL ranges: {resource.partial_support}, If-None-Match: {resource.inm_support}")


def knows_placeholders():
    pictures = json.load(urllib.request.urlopen(f"{site}/pictures.json"))
    return all(picture["hash"] for picture in pictures)


# Until then the gallery's page changes, and a part of it would be a part of another page.
end = time.monotonic() + 120
while not knows_placeholders() and time.monotonic() < end:
    time.sleep(0.2)

config = configparser.ConfigParser()
config.read_dict({"redbot": {"enable_local_access": "True"}})
resources = {path: HttpResource(config["redbot"]) for path in paths}
for path, resource in resources.items():
    resource.set_request(site + path)
    resource.on("check_done", done)
    resource.check()
thor.schedule(120, thor.stop)
thor.run()
for path, resource in resources.items():
    report(path, resource)
print(f"{len(paths)} URLs, {failed} failures")
sys.exit(failed > 0)
