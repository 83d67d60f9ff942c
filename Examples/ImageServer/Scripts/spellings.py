#!/usr/bin/env python3
"""Asks for one signed URL in many spellings of the request's fields; see Scripts/spellings.

  Scripts/spellings.py PORT KEY
"""
import base64
import hashlib
import hmac
import http.client
import multiprocessing
import random
import statistics
import sys
import time

from pictures import pattern

port, key = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
types = ["image/avif", "image/webp", "image/jpeg", "image/png", "image/gif", "image/tiff", "image/*", "*/*", "image/jxl",
         "text/html", "application/octet-stream", "IMAGE/WEBP", "image/webp;level=1"]


def signed(path):
    code = base64.urlsafe_b64encode(hmac.digest(key, path.encode(), hashlib.sha256)).decode().rstrip("=")
    return f"{path}?signature={code}"


def word():
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789-", k=random.randint(1, 12)))


def accept():
    members = random.choices(types, k=random.randint(0, 6))
    return random.choice([",", ", ", " , "]).join(
        member + random.choice(["", f";q=0.{random.randint(0, 999)}", ";q=1", "; q=0", f";{word()}={word()}"]) for member in members)


def spelling(hints):
    fields = {"Accept": accept(), "Accept-Language": word(), "Accept-Encoding": word(), "User-Agent": word(), "Cookie": word(),
              "Referer": word(), "Origin": f"https://{word()}.example", "Priority": f"u={random.randint(0, 9)}", "DNT": "1",
              "X-Forwarded-For": f"10.0.0.{random.randint(1, 255)}", "Cache-Control": random.choice(["no-cache", "max-age=0"]),
              "If-None-Match": f'"{word()}"', "traceparent": word(), f"X-{word()}": word()}
    if hints:
        fields |= {"DPR": f"{random.uniform(0, 9):.4f}", "Sec-CH-DPR": str(random.randint(0, 9)), "Width": str(random.randint(0, 9999)),
                   "Sec-CH-Width": str(random.randint(0, 9999)), "Save-Data": random.choice(["on", "off", "ON", word()])}
    return {name: fields[name] for name in random.sample(list(fields), random.randint(1, len(fields)))}


def asked(connection, path, fields):
    connection.request("GET", path, headers=fields)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        sys.exit(f"{path} with {fields}: {response.status} {body[:300]}")
    return response


def flood(path, hints, count, results):
    connection, tags, encoded = http.client.HTTPConnection("127.0.0.1", port), set(), 0
    for _ in range(count):
        response = asked(connection, path, spelling(hints))
        tags.add(response.headers["ETag"])
        encoded += "Encode;" in response.headers.get("Server-Timing", "")
    results.put((encoded, len(tags)))


def stranger(numbers):
    """The median of a cold thumbnail's time, in milliseconds."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port), []
    for number in numbers:
        path = signed(f"/thumb/{100 + number}x100/{pattern(number)}")
        start = time.monotonic()
        asked(connection, path, {"Accept": "image/webp"})
        times.append((time.monotonic() - start) * 1000)
        time.sleep(0.02)
    return statistics.median(times)


failed = False
stranger(range(0, 10))
alone = stranger(range(10, 70))
for name, path, hints, most in [("", "/thumb/120x90/pattern-190.jpg", False, 10),
                                (" with hints of pixel ratios", "/thumb/120x90/pattern-191.jpg", True, 120),
                                (" with hints of widths", "/thumb/auto/pattern-192.jpg", True, 120)]:
    results = multiprocessing.Queue()
    client = multiprocessing.Process(target=flood, args=(signed(path), hints, 10_000, results))
    client.start()
    first = 70 if not hints else 110 if "ratios" in name else 150
    meanwhile = stranger(range(first, first + 40))
    encoded, tags = results.get()
    client.join()
    print(f"10,000 spellings{name}: {encoded} encoded, {tags} different; a cold thumbnail {meanwhile:.1f} ms, alone {alone:.1f} ms")
    failed = failed or encoded > most or meanwhile > 2 * alone
sys.exit(failed)
