#!/usr/bin/env python3
"""Runs REDbot over one URL of each kind of a running server. A note that it calls bad is a failure, and so is a warning that
isn't explained here.

  Scripts/redbot.py SITE REDBOT
"""
import json
import subprocess
import sys

EXPLAINED = {
    "VARY_COMPLEX": "thumbnails depend on the client's hints, each in its old and its new name",
    "STATUS_BAD_REQUEST": "the request is malformed on purpose",
}
PATHS = [
    "/thumb/320x240,cover/pattern-000.jpg", "/imgproxy/any/rs:fill:100:100/plain/pattern-000.jpg@webp",
    "/iiif/pattern-000.jpg/full/200,/0/default.jpg", "/iiif/pattern-000.jpg/info.json", "/iiif/pattern-000.jpg",
    "/", "/viewer", "/gallery.js", "/traces.json", "/health/live", "/metrics", "/thumb/320x240/missing.jpg", "/thumb/0x0/a.jpg",
]
site, redbot = sys.argv[1:]
failed = 0
for path in PATHS:
    output = subprocess.run([redbot, "-o", "har", site + path], capture_output=True, text=True, timeout=300).stdout
    entry = json.loads(output)["log"]["entries"][0]
    notes = {(note["level"], note["note_id"], note["summary"]) for note in entry["_red_messages"]}
    print(f"{entry['response']['status']} {path}")
    for level, name, summary in sorted(notes):
        if level in ("GOOD", "INFO"):
            continue
        isExplained = level == "WARN" and name in EXPLAINED
        failed += not isExplained
        print(f"  {'ok  ' if isExplained else 'FAIL'} {level} {name}: {summary}{' ' + EXPLAINED[name] if isExplained else ''}")
print(f"{len(PATHS)} URLs, {failed} failures")
sys.exit(failed > 0)
