#!/usr/bin/env python3
"""Draws the gallery's landscapes, charts and illustrations as SVGs, the same ones each time.

  drawings.py FOLDER               writes NAME.FORMAT.svg for each, which `ImageServer pictures` renders as NAME.FORMAT
  drawings.py FOLDER --patterns    writes the patterns that checks tell apart by their pixels instead
"""
import colorsys
import math
import os
import random
import sys

from pictures import pattern


class Drawing:
    """An SVG that grows."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.definitions, self.parts = [], []

    def gradient(self, *stops, across=False, radial=False):
        """A gradient of colours, or of (place, colour) or (place, colour, opacity), as a fill."""
        stops = [stop if isinstance(stop, tuple) else (index / (len(stops) - 1), stop) for index, stop in enumerate(stops)]
        name = f"g{len(self.definitions)}"
        kind, ends = ("radialGradient", "") if radial else ("linearGradient", 'x2="1" y2="0"' if across else 'x2="0" y2="1"')
        lines = "".join(f'<stop offset="{place:.3f}" stop-color="{colour}"' + (f' stop-opacity="{rest[0]}"' if rest else "") + "/>"
                        for place, colour, *rest in stops)
        self.definitions.append(f'<{kind} id="{name}" {ends}>{lines}</{kind}>')
        return f"url(#{name})"

    def add(self, tag, **attributes):
        text = " ".join(f'{name.replace("_", "-")}="{value:.1f}"' if isinstance(value, float) else f'{name.replace("_", "-")}="{value}"'
                        for name, value in attributes.items())
        self.parts.append(f"<{tag} {text}/>")

    def rect(self, x, y, width, height, fill, **more):
        self.add("rect", x=float(x), y=float(y), width=float(width), height=float(height), fill=fill, **more)

    def circle(self, x, y, radius, fill, **more):
        self.add("circle", cx=float(x), cy=float(y), r=float(radius), fill=fill, **more)

    def shape(self, points, fill, isClosed=True, **more):
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("z" if isClosed else "")
        self.add("path", d=path, fill=fill, **more)

    def text(self, x, y, size, text, fill="#1f2937", anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-family="DejaVu Sans" font-size="{size}" font-weight="{weight}" '
                          f'text-anchor="{anchor}" fill="{fill}">{text}</text>')

    def fill(self, fill):
        self.rect(0, 0, self.width, self.height, fill)

    def below(self, line, fill, **more):
        """Everything under a line."""
        self.shape([(0, self.height), *line, (self.width, self.height)], fill, **more)

    def cloud(self, rng, x, y, width):
        """A cloud of circles over a flat foot."""
        path = f"M{x - width / 2:.0f} {y}h{width:.0f}"
        for n in range(7):
            radius = width * (0.09 + 0.13 * math.sin(math.pi * (n + 0.5) / 7)) * rng.uniform(0.8, 1.1)
            path += f"M{x - width / 2 + width * (n + 0.5) / 7 - radius:.0f} {y}a{radius:.0f} {radius * 0.8:.0f} 0 0 1 {2 * radius:.0f} 0z"
        self.add("path", d=path, fill=self.gradient((0, "#fff", 0.95), (1, "#fff", 0.5)))

    def stars(self, rng, count, until):
        for _ in range(count):
            self.circle(rng.uniform(0, self.width), rng.uniform(0, until) * rng.random() ** 0.5, rng.choice([1, 1.4, 2, 3]), "#fff",
                        opacity=f"{rng.uniform(0.3, 0.95):.2f}")

    def pine(self, x, foot, height, fill):
        """A tree of five storeys."""
        points, width = [(x, foot - height)], height * 0.24
        for storey in range(1, 6):
            y, half = foot - height * (1 - storey / 5), width * storey / 5
            points += [(x + half, y), (x + half * 0.55, y - height * 0.012)] if storey < 5 else [(x + half, y)]
        self.shape(points + [(2 * x - px, py) for px, py in reversed(points[1:])], fill)

    @property
    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}">'
                f'<defs>{"".join(self.definitions)}</defs>{"".join(self.parts)}</svg>\n')


def hue(h, s=0.6, l=0.5):
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(h % 1, l, s))


def mix(a, b, part):
    return "#" + "".join(f"{round(int(a[i:i + 2], 16) * (1 - part) + int(b[i:i + 2], 16) * part):02x}" for i in (1, 3, 5))


def ridge(rng, width, base, height, roughness=0.5, steps=256):
    """A mountain's outline, by halving."""
    line = [rng.uniform(-1, 1), rng.uniform(-1, 1)]
    scale = 1.0
    while len(line) <= steps:
        line = [value for a, b in zip(line, line[1:]) for value in (a, (a + b) / 2 + rng.uniform(-scale, scale))] + [line[-1]]
        scale *= roughness
    return [(width * index / (len(line) - 1), base - height * value) for index, value in enumerate(line)]


def hill(rng, width, base, height, waves=3, steps=120):
    """A soft outline, by waves."""
    waves = [(rng.uniform(0.5, 1) / (n + 1), (n + 1) * rng.uniform(0.6, 1.3), rng.uniform(0, 7)) for n in range(waves)]
    return [(width * i / steps, base - height * sum(a * math.sin(f * 2 * math.pi * i / steps + p) for a, f, p in waves)) for i in range(steps + 1)]


def alpine_lake(rng):
    d = Drawing(2880, 1920)
    shore = 1180
    d.fill(d.gradient("#3d7dc4", "#9cc9ec", "#e9f3fb"))
    for n in range(7):
        d.cloud(rng, 180 + n * 430 + rng.uniform(-120, 120), rng.uniform(170, 560), rng.uniform(220, 460))
    ranges = [("#a9c3dd", 720, 330), ("#7d9fc2", 860, 330), ("#587ba0", 1010, 170)]
    outlines = []
    for colour, base, height in ranges:
        line = ridge(rng, 2880, base, height, 0.53)
        outlines.append((line, colour))
    mirror = []
    for line, colour in outlines:
        d.shape([(0, shore), *line, (2880, shore)], colour)
        snow = [(x, max(y, 40 + 0.5 * y + 330 + 44 * math.sin(x / 23) * math.sin(x / 57))) for x, y in line]
        d.shape([*line, *reversed(snow)], "#f7fbff", opacity="0.85")
        mirror.append(([(x, 2 * shore - y) for x, y in line], colour))
    forest = hill(rng, 2880, 1130, 26)
    d.shape([(0, shore + 4), *forest, (2880, shore + 4)], "#234a3c")
    for x in range(0, 2880, 22):
        d.pine(x + rng.uniform(-9, 9), 1175, rng.uniform(60, 150), rng.choice(["#1f4437", "#26513f", "#1a3a30"]))
    d.rect(0, shore, 2880, 740, d.gradient("#a8cbe6", "#4e86b4", "#1c456b"))
    for line, colour in mirror:
        d.shape([(0, shore), *line, (2880, shore)], colour, opacity="0.45")
    for x in range(0, 2880, 26):
        height = rng.uniform(60, 170)
        d.shape([(x, shore), (x + 26, shore), (x + 13, shore + height)], "#1d4a43", opacity="0.5")
    for _ in range(260):
        y = shore + 740 * rng.random() ** 1.5
        w = 20 + (y - shore) * rng.uniform(0.1, 0.5)
        d.rect(rng.uniform(-100, 2880), y, w, 1.5 + (y - shore) / 240, "#e4f1fb", opacity=f"{rng.uniform(0.08, 0.32):.2f}", rx=2)
    for _ in range(26):
        x = rng.choice([rng.uniform(-40, 560), rng.uniform(2440, 2920)])
        d.pine(x, 1930, rng.uniform(420, 900) * (1 - min(x + 40, 2920 - x) / 800), rng.choice(["#0e2a24", "#123329", "#0a211d"]))
    return d


def fjord_at_dawn(rng):
    d = Drawing(2880, 1800)
    d.fill(d.gradient("#2b3f73", "#8a6d9e", "#f2a285", "#ffd9a0"))
    d.circle(1840, 880, 620, d.gradient((0, "#fff3c9", 0.95), (0.25, "#ffd58c", 0.55), (1, "#ffb27a", 0), radial=True))
    d.circle(1840, 880, 92, "#fffbe8")
    for n in range(6):
        part = n / 5
        line = ridge(rng, 2880, 860 + 62 * n, 250 - 22 * n, 0.5 - 0.02 * n)
        d.below(line, d.gradient((0, mix("#c98a92", "#1d2547", part)), (1, mix("#f2b59a", "#33305c", part))))
    d.rect(0, 1260, 2880, 540, d.gradient("#e6a58b", "#7b6391", "#252f5c"))
    for _ in range(420):
        y = 1262 + 538 * rng.random() ** 1.4
        spread = 80 + (y - 1260) * 1.1
        x = rng.gauss(1840, spread)
        d.rect(x - 60, y, rng.uniform(20, 60 + (y - 1260) / 2), 2 + (y - 1260) / 130, "#ffe3b0", opacity=f"{rng.uniform(0.12, 0.6):.2f}", rx=2)
    left = [(0, 900), *[(x, 930 + x * 0.36 + 26 * math.sin(x / 47) + rng.uniform(-16, 16)) for x in range(20, 960, 20)]]
    d.shape([*left, (980, 1300), (620, 1420), (0, 1560)], d.gradient("#1b2145", "#0d1129"))
    d.shape([(1260, 1560), (1360, 1590), (1500, 1560), (1440, 1600), (1310, 1604)], "#0c1028")
    d.shape([(1380, 1556), (1380, 1380), (1470, 1540)], "#f7e3cf")
    d.shape([(1372, 1556), (1372, 1410), (1310, 1540)], "#d7b6ac")
    return d


def dunes(rng):
    d = Drawing(2560, 1706)
    d.fill(d.gradient("#4a90c2", "#bfe0e8", "#fde7c4"))
    d.circle(620, 420, 90, "#fffdf0")
    d.circle(620, 420, 360, d.gradient((0, "#fff8dc", 0.8), (1, "#fff8dc", 0), radial=True))
    for n in range(6):
        base, part = 760 + 165 * n, n / 5
        line = hill(rng, 2560, base, 90 + 24 * n, 3, 160)
        d.below(line, d.gradient(mix("#f6cf95", "#e0873f", part), mix("#dfa268", "#9c4a20", part)))
        peak = min(range(20, 140), key=lambda i: line[i][1])
        x, y = line[peak]
        shade = [(x, y)] + [(line[i][0], line[i][1]) for i in range(peak, min(160, peak + 46))]
        foot = [(x + 300 - 300 * t + 90 * math.sin(t * 6), y + 420 * (1 - t)) for t in [k / 12 for k in range(13)]]
        d.shape(shade + foot, mix("#b9743f", "#6b2c14", part), opacity="0.55")
        for k in range(14):
            d.shape([(px, py + 26 + k * 15 + 4 * math.sin(px / 60 + k)) for px, py in line[::4]], "none", False, stroke="#fff1d0",
                    stroke_opacity=f"{0.16 - 0.01 * k:.2f}", stroke_width=3)
    return d


def northern_lights(rng):
    d = Drawing(2560, 1706)
    d.fill(d.gradient("#03081c", "#0a2342", "#15475c", "#2b6f6b"))
    d.stars(rng, 520, 1150)
    for curtain in range(4):
        wave = hill(rng, 2560, 760 - 90 * curtain, 120, 4, 320)
        colour = ["#58f5a9", "#35e0b4", "#7ef2c7", "#b77cf2"][curtain]
        light = d.gradient((0, "#b06cf0", 0), (0.35, colour, 0.1), (0.85, colour, 0.5), (1, "#d6ffe6", 0.0))
        for index, (x, y) in enumerate(wave[:-1]):
            height = 420 + 160 * math.sin(index / 9 + curtain) + rng.uniform(-60, 60)
            d.rect(x, y - height, 9, height, light, opacity=f"{0.42 + 0.3 * math.sin(index / 23 + curtain * 2):.2f}")
    d.below(ridge(rng, 2560, 1130, 150, 0.5), d.gradient("#1d4258", "#0b2233"))
    snow = hill(rng, 2560, 1330, 40)
    d.below(snow, d.gradient("#7fb9c4", "#2b5a77", "#12304c"))
    for index in range(90):
        x = rng.uniform(0, 2560)
        d.pine(x, 1330 + rng.uniform(-10, 120), rng.uniform(90, 330), rng.choice(["#04121c", "#061a25", "#03101a"]))
    return d


def misty_forest(rng):
    d = Drawing(2400, 1600)
    d.fill(d.gradient("#dfe8e4", "#c3d3cd"))
    d.circle(1700, 380, 560, d.gradient((0, "#fffbe6", 0.95), (1, "#fffbe6", 0), radial=True))
    for layer in range(8):
        part = layer / 7
        line = hill(rng, 2400, 640 + 125 * layer, 70)
        colour = mix("#b4c8c1", "#0f2b27", part ** 1.1)
        d.below(line, d.gradient(colour, mix(colour, "#dfe8e4", 0.5 * (1 - part))))
        for _ in range(150 - 12 * layer):
            x = rng.uniform(-40, 2440)
            y = line[min(119, max(0, int(x / 20)))][1]
            d.pine(x, y + 24, rng.uniform(60, 120) * (1 + 0.42 * layer), colour)
        d.rect(0, 560 + 125 * layer, 2400, 420, d.gradient((0, "#e9f0ec", 0), (0.6, "#e9f0ec", 0.34 * (1 - part)), (1, "#e9f0ec", 0)))
    return d


def city_at_dusk(rng):
    d = Drawing(2560, 1600)
    d.fill(d.gradient("#1c1b4b", "#6a3d8f", "#e0637f", "#ffb56b"))
    d.stars(rng, 120, 500)
    d.circle(1980, 380, 110, "#ffeccf")
    d.circle(1980, 380, 330, d.gradient((0, "#ffeccf", 0.5), (1, "#ffeccf", 0), radial=True))
    for layer, (colour, low, high) in enumerate([("#8a4a86", 380, 640), ("#543275", 320, 760), ("#241a4d", 240, 900)]):
        x = -40
        while x < 2560:
            w, h = rng.uniform(80, 190), rng.uniform(low, high) * (0.7 + 0.5 * math.sin(x / 500 + layer) ** 2)
            top = 1420 - h
            d.rect(x, top, w, h + 200, colour)
            if rng.random() < 0.25:
                d.rect(x + w / 2 - 4, top - 90, 8, 90, colour)
            if rng.random() < 0.3:
                d.shape([(x, top), (x + w / 2, top - w / 2.4), (x + w, top)], colour)
            if layer:
                for wy in range(int(top) + 24, 1400, 34):
                    for wx in range(int(x) + 14, int(x + w) - 22, 30):
                        if rng.random() < (0.28 if layer == 1 else 0.42):
                            d.rect(wx, wy, 14, 18, rng.choice(["#ffd98a", "#ffe9b8", "#ffb765"]), opacity=f"{rng.uniform(0.45, 1):.2f}")
            x += w + rng.uniform(-6, 26)
    d.rect(0, 1400, 2560, 200, d.gradient("#3a2460", "#120d2e"))
    for _ in range(300):
        d.rect(rng.uniform(0, 2560), rng.uniform(1405, 1600), rng.uniform(10, 120), 3, rng.choice(["#ffb56b", "#e0637f", "#ffe9b8"]), opacity=f"{rng.uniform(0.08, 0.5):.2f}", rx=1)
    return d


def sea_at_sunset(rng):
    d = Drawing(2400, 1600)
    d.fill(d.gradient("#20305e", "#7b4b8a", "#ea6b63", "#ffb45c", "#ffe6a6"))
    for _ in range(26):
        y = rng.uniform(180, 800)
        d.add("ellipse", cx=rng.uniform(0, 2400), cy=y, rx=rng.uniform(160, 620), ry=rng.uniform(6, 24), fill=mix("#3d3565", "#ff9a72", y / 800), opacity="0.5")
    d.circle(1200, 900, 560, d.gradient((0, "#fff4c2", 0.9), (1, "#ff9d5c", 0), radial=True))
    d.circle(1200, 900, 150, "#fff6cf")
    d.rect(0, 920, 2400, 680, d.gradient("#f0925e", "#8b4a78", "#1c2450"))
    for row in range(70):
        y = 925 + 670 * (row / 70) ** 1.6
        for _ in range(16):
            near = rng.random() < 0.5
            x = rng.gauss(1200, 60 + row * 6) if near else rng.uniform(0, 2400)
            w = rng.uniform(20, 60) * (1 + row / 18)
            d.add("ellipse", cx=x, cy=y, rx=w, ry=1.2 + row / 16, fill="#ffe2a0" if near else "#2a2a5a", opacity=f"{rng.uniform(0.15, 0.6 if near else 0.3):.2f}")
    for x, y, s in [(520, 420, 1.0), (640, 360, 0.7), (720, 450, 0.55), (1780, 330, 0.8)]:
        d.add("path", d=f"M{x - 60 * s} {y - 18 * s}q{30 * s} {-26 * s} {60 * s} {18 * s}q{30 * s} {-44 * s} {60 * s} {-18 * s}", fill="none", stroke="#2a2145", stroke_width=7 * s, stroke_linecap="round")
    return d


def lavender_fields(rng):
    d = Drawing(2560, 1706)
    d.fill(d.gradient("#6ea8dc", "#cfe4f3", "#fbe9d7"))
    for n in range(3):
        d.below(ridge(rng, 2560, 660 + 40 * n, 90, 0.46), mix("#a3b4d6", "#6f86a8", n / 2))
    d.below(hill(rng, 2560, 760, 24), "#8a9a5b")
    d.rect(0, 800, 2560, 906, "#6b7b3f")
    for row in range(-34, 35):
        near, far = 1280 + row * 230, 1280 + row * 26
        shade = d.gradient(mix("#a78bda", "#8f6fce", (row % 3) / 2), "#5b2f9b")
        d.shape([(far - 9, 800), (far + 9, 800), (near + 92, 1706), (near - 92, 1706)], shade)
        for _ in range(34):
            t = rng.random() ** 0.7
            x = far + (near - far) * t + rng.uniform(-85, 85) * t
            d.add("ellipse", cx=x, cy=800 + 906 * t, rx=2 + 8 * t, ry=5 + 26 * t, fill=rng.choice(["#c7aef2", "#9c78dd", "#7445b8"]), opacity="0.7")
    for x, s in [(1870, 1.0), (2050, 0.72), (560, 0.6)]:
        d.rect(x - 9 * s, 700, 18 * s, 130 * s, "#5b4632")
        for _ in range(40):
            d.circle(x + rng.gauss(0, 60) * s, 690 + rng.gauss(0, 46) * s, 34 * s, rng.choice(["#4c6b3a", "#5d7f45", "#3f5b33"]))
    return d


def moon_over_hills(rng):
    d = Drawing(1600, 2000)
    d.fill(d.gradient("#0b1030", "#27336b", "#6b6fae", "#d8b4c8"))
    d.stars(rng, 260, 1100)
    d.circle(1060, 560, 520, d.gradient((0, "#f9f2dc", 0.5), (1, "#f9f2dc", 0), radial=True))
    d.circle(1060, 560, 210, d.gradient("#fffaf0", "#e6d9bb"))
    for x, y, r in [(990, 500, 40), (1120, 610, 56), (1080, 460, 24), (1010, 640, 30), (1170, 500, 18)]:
        d.circle(x, y, r, "#d8c9a6", opacity="0.55")
    for n in range(6):
        d.below(hill(rng, 1600, 1250 + 130 * n, 80), d.gradient(mix("#8b84b8", "#0d1233", n / 5), mix("#b096b8", "#060920", n / 5)))
    for _ in range(16):
        d.pine(rng.uniform(0, 1600), 2010, rng.uniform(180, 420), "#04061a")
    return d


def autumn_tree(rng):
    d = Drawing(2000, 2000)
    d.fill(d.gradient("#f9ead2", "#f4cf9f", "#e9a86c"))
    d.circle(1420, 620, 260, "#fdf3df", opacity="0.85")
    d.below(hill(rng, 2000, 1560, 50), d.gradient("#b5652f", "#6d3517"))
    leaves = []

    def branch(x, y, angle, length, width):
        end = (x + length * math.cos(angle), y - length * math.sin(angle))
        d.shape([(x, y), end], "none", False, stroke="#3b2418", stroke_width=width, stroke_linecap="round")
        if width < 5:
            leaves.append(end)
            return
        for _ in range(2 if rng.random() < 0.72 else 3):
            branch(*end, angle + rng.uniform(-0.62, 0.62), length * rng.uniform(0.7, 0.86), width * 0.68)

    branch(1000, 1680, math.pi / 2, 330, 84)
    for x, y in leaves:
        for _ in range(5):
            d.circle(x + rng.gauss(0, 34), y + rng.gauss(0, 30), rng.uniform(8, 26), rng.choice(["#c8371b", "#e2622a", "#f0952f", "#f7bd4b", "#a92a1c"]), opacity="0.82")
    for _ in range(180):
        d.add("ellipse", cx=rng.gauss(1000, 430), cy=rng.uniform(1620, 1900), rx=rng.uniform(8, 20), ry=rng.uniform(4, 9), fill=rng.choice(["#e2622a", "#f0952f", "#f7bd4b"]), opacity="0.9")
    return d


def islands(rng):
    d = Drawing(3600, 1350)
    d.fill(d.gradient("#74c7e8", "#c9eef2", "#fff4dc"))
    d.rect(0, 660, 3600, 690, d.gradient("#7fd6d6", "#1f97b5", "#0c4f7d"))
    for n in range(9):
        x, w = 200 + n * 400 + rng.uniform(-150, 150), rng.uniform(260, 640)
        part = rng.random()
        y, h = 660 + 30 * part, rng.uniform(80, 330)
        points = [(x + w * t, y - h * math.sin(math.pi * t) ** 0.7 * (1 + 0.25 * math.sin(9 * t + n)) - rng.uniform(0, 14)) for t in [k / 40 for k in range(41)]]
        d.shape(points, d.gradient(mix("#8fc0a8", "#2f7d5b", part), mix("#b9d9c9", "#1f5f50", part)))
        d.add("ellipse", cx=x + w / 2, cy=y + 4, rx=w * 0.56, ry=10, fill="#fff6df", opacity="0.7")
    for _ in range(500):
        y = 690 + 660 * rng.random() ** 1.3
        d.rect(rng.uniform(0, 3600), y, 12 + (y - 680) * rng.uniform(0.05, 0.3), 1.5 + (y - 680) / 200, "#fff", opacity=f"{rng.uniform(0.1, 0.4):.2f}", rx=2)
    for x, y, s in [(1220, 930, 1.4), (2540, 820, 0.8), (560, 800, 0.7)]:
        d.shape([(x - 90 * s, y), (x + 90 * s, y), (x + 60 * s, y + 34 * s), (x - 66 * s, y + 34 * s)], "#7c2d3b")
        d.shape([(x, y - 10 * s), (x, y - 220 * s), (x + 96 * s, y - 26 * s)], "#fff")
        d.shape([(x - 10 * s, y - 10 * s), (x - 10 * s, y - 180 * s), (x - 74 * s, y - 20 * s)], "#fbd9c0")
    return d


def first_snow(rng):
    d = Drawing(2400, 1800)
    d.fill(d.gradient("#8ea6c4", "#c9d6e6", "#f3eef0"))
    for n in range(4):
        d.below(ridge(rng, 2400, 760 + 70 * n, 150 - 20 * n, 0.48), d.gradient(mix("#b3c2d6", "#7890b0", n / 3), "#e8edf4"))
    for layer in range(4):
        line = hill(rng, 2400, 1150 + 170 * layer, 60)
        d.below(line, d.gradient("#ffffff", "#cddaea"))
        for _ in range(30 - 5 * layer):
            x = rng.uniform(0, 2400)
            y, h = line[min(119, int(x / 20))][1] + 30, rng.uniform(100, 190) * (1 + 0.4 * layer)
            d.pine(x, y, h, mix("#6f8a9a", "#20424a", layer / 3))
            d.pine(x - h * 0.02, y - h * 0.16, h * 0.84, "#f4f8fc") if rng.random() < 0.35 else None
    for _ in range(700):
        d.circle(rng.uniform(0, 2400), rng.uniform(0, 1800), rng.choice([2, 3, 4, 6, 9]), "#fff", opacity=f"{rng.uniform(0.35, 0.95):.2f}")
    return d


def chart(title, subtitle, paper="#fdfcfa"):
    d = Drawing(2200, 1500)
    d.fill(paper)
    d.text(140, 150, 56, title, weight="bold")
    d.text(140, 208, 34, subtitle, "#57534e")
    return d


def axes(d, unit, rows=6, colour="#d6d3d1"):
    for n in range(rows):
        y = 300 + (d.height - 460) * n / (rows - 1)
        d.rect(240, y, d.width - 380, 2.5, colour)
        d.text(215, y + 12, 32, f"{(rows - 1 - n) * unit}", "#57534e", "end")


def rainfall(rng):
    d = chart("Rain on the west coast", "Millimetres a month, by its kind")
    axes(d, 50)
    for month in range(12):
        x, y = 280 + month * 150, 1340
        for colour, part in [("#1e3a8a", 1), ("#2563eb", 0.8), ("#7dd3fc", 0.55)]:
            h = part * (150 + 150 * math.sin(month / 12 * 2 * math.pi + 0.6) ** 2 + rng.uniform(20, 150))
            y -= h
            d.rect(x, y, 104, h - 5, colour, rx=7)
        d.text(x + 52, 1394, 34, "JFMAMJJASOND"[month], "#57534e", "middle")
    return d


def streams(rng):
    d = chart("What the harbour traded", "Shares of seven goods, 1820 to 1900", "#fffaf3")
    colours = ["#7c2d12", "#c2410c", "#ea7317", "#f6ae2d", "#86bbd8", "#33658a", "#1b3a57"]
    layers = [[max(4, 90 * (1 + math.sin(x / 100 * f + p)) * math.exp(-((x - c) / 62) ** 2) + 26) for x in range(0, 241)]
              for f, p, c in [(rng.uniform(3, 7), rng.uniform(0, 6), rng.uniform(40, 200)) for _ in colours]]
    tops = [[820 - sum(layer[x] for layer in layers) * 0.65 + 40] for x in range(241)]
    for colour, layer in zip(colours, layers):
        upper = [(140 + x * 8, tops[x][-1]) for x in range(241)]
        for x in range(241):
            tops[x].append(tops[x][-1] + layer[x] * 1.3)
        d.shape(upper + [(140 + x * 8, tops[x][-1]) for x in range(240, -1, -1)], colour)
    for n in range(9):
        d.rect(140 + n * 240 - 1, 300, 2, 1040, "#1f2937", opacity="0.12")
        d.text(150 + n * 237, 1400, 32, f"{1820 + 10 * n}", "#57534e", "middle")
    return d


def ridgelines(rng):
    d = Drawing(1800, 2000)
    d.fill("#0f1115")
    for row in range(46):
        y0 = 330 + row * 33
        peaks = [(rng.gauss(900, 170), rng.uniform(40, 150), rng.uniform(20, 70)) for _ in range(5)]
        line = [(x, y0 - sum(h * math.exp(-((x - c) / w) ** 2) for c, h, w in peaks) - rng.uniform(0, 5)) for x in range(260, 1545, 8)]
        d.shape([(260, y0 + 50), *line, (1540, y0 + 50)], "#0f1115")
        d.shape(line, "none", False, stroke=hue(0.52 + row * 0.008, 0.75, 0.72), stroke_width=4, stroke_linejoin="round")
    return d


def calendar(rng):
    d = chart("A year of walks", "Steps a day, in weeks from January to June, and from July to December")
    for week in range(52):
        for day in range(7):
            value = max(0.0, min(1.0, 0.42 + 0.4 * math.sin(week / 52 * 6.3 + 4) + rng.uniform(-0.35, 0.35) - 0.3 * (day > 4)))
            d.rect(150 + week % 26 * 73, 290 + (week // 26) * 540 + day * 70, 64, 61, mix("#e7f3ea", "#0b5d3b", value), rx=10)
    for n in range(5):
        d.rect(1690 + n * 73, 112, 64, 44, mix("#e7f3ea", "#0b5d3b", n / 4), rx=8)
    return d


def bubbles(rng):
    d = chart("Size and speed of 120 comets", "Kilometres a second, by distance", "#f8fafc")
    axes(d, 10, colour="#dbe2ea")
    for _ in range(120):
        t = rng.random()
        d.circle(300 + t * 1700, 1240 - 760 * t ** 1.4 + rng.gauss(0, 110), rng.choice([12, 18, 26, 40, 64, 90]) * rng.uniform(0.6, 1),
                 rng.choice(["#e11d48", "#0ea5e9", "#f59e0b", "#14b8a6", "#8b5cf6"]), opacity="0.62", stroke="#fff", stroke_width=4)
    return d


def contours(rng):
    d = Drawing(2400, 1600)
    d.fill("#f3ecdc")
    for cx, cy, size, turns in [(820, 700, 720, 3), (1760, 1010, 620, 4), (1640, 300, 330, 2)]:
        waves = [(rng.uniform(0.04, 0.14), n, rng.uniform(0, 6.3)) for n in range(2, 7)]
        for level in range(18):
            part = 1 - level / 18
            ring = [(cx + size * part * (1 + sum(a * part ** 0.4 * math.sin(n * t + p) for a, n, p in waves)) * math.cos(t),
                     cy + size * part * 0.78 * (1 + sum(a * part ** 0.4 * math.sin(n * t + p) for a, n, p in waves)) * math.sin(t)) for t in [k / 90 * 2 * math.pi for k in range(90)]]
            d.shape(ring, mix("#d9e3c0", "#b06a3b", level / 17), stroke="#7a4a26", stroke_opacity="0.6", stroke_width=6 if level % 5 == 0 else 2.5)
    river = hill(rng, 2400, 1330, 120)
    d.shape(river, "none", False, stroke="#5b9bc8", stroke_width=26, stroke_linejoin="round")
    d.shape(river, "none", False, stroke="#a5cfe8", stroke_width=12, stroke_linejoin="round")
    for n in range(1, 8):
        d.rect(n * 300, 0, 2, 1600, "#7a4a26", opacity="0.16")
        d.rect(0, n * 300, 2400, 2, "#7a4a26", opacity="0.16")
    return d


def sector(d, cx, cy, inner, outer, start, end, fill, **more):
    steps = [start + (end - start) * k / 24 for k in range(25)]
    d.shape([(cx + outer * math.cos(t), cy + outer * math.sin(t)) for t in steps] + [(cx + inner * math.cos(t), cy + inner * math.sin(t)) for t in reversed(steps)], fill, **more)


def sunburst(rng):
    d = Drawing(2000, 2000)
    d.fill("#111827")

    def rings(start, end, depth, tone):
        parts = [rng.uniform(0.5, 2) for _ in range(7 if not depth else 3)]
        cut = [start + (end - start) * sum(parts[:n]) / sum(parts) for n in range(len(parts) + 1)]
        for index, (a, b) in enumerate(zip(cut, cut[1:])):
            own = tone + 0.11 * index if not depth else tone + 0.012 * index
            sector(d, 1000, 1000, 230 + depth * 165, 385 + depth * 165, a, b, hue(own, 0.68, 0.5 + 0.09 * depth), stroke="#111827", stroke_width=6)
            if depth < 3 and b - a > 0.06 and (not depth or rng.random() < 0.8):
                rings(a, b, depth + 1, own)

    rings(0, 2 * math.pi, 0, 0.93)
    return d


def wind_rose(rng):
    d = Drawing(1800, 1800)
    d.fill("#f7f5f0")
    for ring in range(1, 6):
        d.circle(900, 900, ring * 150, "none", stroke="#d6d0c4", stroke_width=3)
    for n in range(24):
        a, r = n / 24 * 2 * math.pi, 60.0
        total = 250 + 420 * abs(math.sin(a * 1.5 + 0.4)) + rng.uniform(-60, 60)
        for colour, part in [("#264653", 0.3), ("#2a9d8f", 0.3), ("#e9c46a", 0.22), ("#e76f51", 0.18)]:
            sector(d, 900, 900, r, r + total * part, a - 0.115, a + 0.115, colour)
            r += total * part
    d.circle(900, 900, 60, "#264653")
    return d


def low_poly(rng):
    d = Drawing(2400, 1600)
    columns, rows = 24, 16
    point = {(i, j): (i * 100 + (rng.uniform(-42, 42) if 0 < i < columns else 0), j * 100 + (rng.uniform(-42, 42) if 0 < j < rows else 0))
             for i in range(columns + 1) for j in range(rows + 1)}
    for i in range(columns):
        for j in range(rows):
            a, b, c, e = point[i, j], point[i + 1, j], point[i + 1, j + 1], point[i, j + 1]
            for triangle in ((a, b, c), (a, c, e)) if (i + j) % 2 else ((a, b, e), (b, c, e)):
                x, y = sum(p[0] for p in triangle) / 7200, sum(p[1] for p in triangle) / 4800
                colour = hue(0.58 + 0.34 * x + 0.05 * math.sin(5 * y), 0.62, 0.3 + 0.38 * (1 - y) + rng.uniform(-0.05, 0.05))
                d.shape(triangle, colour, stroke=colour, stroke_width=1)
    return d


def bauhaus(rng):
    d = Drawing(2000, 2000)
    colours = ["#d62828", "#f77f00", "#fcbf49", "#eae2b7", "#003049", "#2a6f97"]
    for i in range(8):
        for j in range(8):
            x, y, (a, b, c) = i * 250, j * 250, rng.sample(colours, 3)
            d.rect(x, y, 250, 250, a)
            kind, turn = rng.randrange(5), rng.randrange(4) * 90
            at = dict(transform=f"rotate({turn} {x + 125} {y + 125})")
            if kind == 0:
                d.add("path", d=f"M{x} {y}h250a250 250 0 0 1-250 250z", fill=b, **at)
            elif kind == 1:
                d.add("path", d=f"M{x} {y}a125 125 0 0 1 250 0z M{x} {y + 125}a125 125 0 0 0 250 0z", fill=b, **at)
            elif kind == 2:
                d.circle(x + 125, y + 125, 125, b)
                d.circle(x + 125, y + 125, 62, c)
            elif kind == 3:
                d.shape([(x, y), (x + 250, y + 250), (x, y + 250)], b, **at)
            else:
                for k in range(5):
                    d.rect(x, y + 50 * k, 250, 25, b, **at)
    return d


def flow(rng):
    d = Drawing(2400, 1600)
    d.fill("#12121c")
    for _ in range(900):
        x, y = rng.uniform(-100, 2500), rng.uniform(-100, 1700)
        colour, line = hue(0.55 + 0.4 * x / 2400 + rng.uniform(-0.03, 0.03), 0.8, 0.62), []
        for _ in range(70):
            line.append((x, y))
            angle = 1.6 * math.sin(x / 420) + 1.4 * math.cos(y / 310) + 0.6 * math.sin((x + y) / 200)
            x, y = x + 9 * math.cos(angle), y + 9 * math.sin(angle)
        d.shape(line, "none", False, stroke=colour, stroke_width=rng.choice([2, 3, 5]), stroke_opacity="0.6", stroke_linecap="round")
    return d


def pebbles(rng):
    d = Drawing(2200, 1650)
    d.fill("#efe7da")
    placed = []
    for size in [190, 150, 110, 84, 60, 40, 26, 16]:
        for _ in range(700):
            x, y = rng.uniform(0, 2200), rng.uniform(0, 1650)
            if all(math.hypot(x - a, y - b) > size + r + 7 for a, b, r in placed):
                placed.append((x, y, size))
                colour = rng.choice(["#33415c", "#5c677d", "#7d8597", "#bc6c25", "#dda15e", "#606c38", "#a3a380", "#d6ce93"])
                d.circle(x, y, size, colour)
                d.circle(x - size * 0.22, y - size * 0.26, size * 0.62, mix(colour, "#ffffff", 0.35), opacity="0.35")
    return d


def isometric(rng):
    d = Drawing(2400, 1800)
    d.fill(d.gradient("#fde8d7", "#f7b7a3"))
    for j in range(13):
        for i in range(13):
            x, y, w = 1200 + (i - j) * 92, 420 + (i + j) * 53, 88
            h = rng.uniform(20, 330) * math.exp(-((i - 6) ** 2 + (j - 6) ** 2) / 46)
            tone = hue(0.03 + 0.5 * ((i * 7 + j * 3) % 5 == 0) + 0.02 * rng.random(), 0.55, 0.6)
            t = h + 16
            d.shape([(x - w, y - t), (x, y + 51 - t), (x, y + 51), (x - w, y)], mix(tone, "#3b1c32", 0.4))
            d.shape([(x + w, y - t), (x, y + 51 - t), (x, y + 51), (x + w, y)], mix(tone, "#3b1c32", 0.62))
            d.shape([(x - w, y - t), (x, y - 51 - t), (x + w, y - t), (x, y + 51 - t)], mix(tone, "#fff4e6", 0.35))
    return d


def ringed_planet(rng):
    d = Drawing(2400, 1600)
    d.fill(d.gradient("#070718", "#1a1040", "#3a1650"))
    d.stars(rng, 700, 1600)
    d.circle(500, 1300, 900, d.gradient((0, "#c026d3", 0.3), (1, "#c026d3", 0), radial=True))
    d.circle(2000, 300, 800, d.gradient((0, "#0ea5e9", 0.25), (1, "#0ea5e9", 0), radial=True))
    tilt = "rotate(-18 1240 800)"
    for k in range(9):
        d.add("ellipse", cx=1240, cy=800, rx=660 + 30 * k, ry=150 + 8 * k, fill="none", stroke=mix("#ffe0b5", "#c77dff", k / 8), stroke_width=14, stroke_opacity="0.7", transform=tilt)
    d.definitions.append('<clipPath id="disc"><circle cx="1240" cy="800" r="420"/></clipPath>')
    d.circle(1240, 800, 420, "#f4a261")
    for k in range(12):
        d.add("ellipse", cx=1240, cy=430 + k * 66, rx=470, ry=26 + 14 * (k % 3), fill=["#e76f51", "#f6bd60", "#f7ede2", "#d97b4f"][k % 4], opacity="0.6", clip_path="url(#disc)", transform=tilt)
    d.circle(1240, 800, 420, d.gradient((0, "#000", 0), (0.55, "#000", 0.05), (1, "#0a0118", 0.85), across=True))
    for k in range(9):
        d.add("path", d=f"M{580 - 30 * k} 800a{660 + 30 * k} {150 + 8 * k} 0 0 0 {1320 + 60 * k} 0", fill="none", stroke=mix("#ffe0b5", "#c77dff", k / 8), stroke_width=14, stroke_opacity="0.85", transform=tilt)
    d.circle(420, 420, 90, d.gradient("#bde0fe", "#3a5a80", across=True))
    return d


def balloons(rng):
    d = Drawing(2000, 2000)
    d.fill(d.gradient("#5fb0e5", "#bfe3f5", "#fff1de"))
    for n in range(8):
        d.cloud(rng, 120 + n * 260 + rng.uniform(-90, 90), rng.uniform(240, 1350), rng.uniform(220, 420))
    for n in range(4):
        d.below(hill(rng, 2000, 1560 + 100 * n, 60), mix("#9cc7a5", "#2f6b4f", n / 3))
    for x, y, s, (a, b) in [(620, 620, 1.5, ("#e63946", "#fff3e0")), (1420, 430, 1.0, ("#f4a300", "#7b2cbf")), (1230, 1080, 0.72, ("#118ab2", "#ffd166")), (300, 1220, 0.5, ("#ef476f", "#06d6a0")), (1740, 960, 0.44, ("#3a0ca3", "#f72585"))]:
        r = 220 * s
        for k in range(8):
            edge = [r * math.cos(math.pi * (k + e) / 8) for e in (0, 1)]
            d.add("path", d=f"M{x} {y - r}C{x + edge[0] * 1.33} {y - r} {x + edge[0] * 1.2} {y + r * 0.6} {x + edge[0] * 0.2} {y + r * 1.3}"
                            f"L{x + edge[1] * 0.2} {y + r * 1.3}C{x + edge[1] * 1.2} {y + r * 0.6} {x + edge[1] * 1.33} {y - r} {x} {y - r}z", fill=(a, b)[k % 2])
        for dx in (-0.18, 0.18):
            d.shape([(x + r * dx, y + r * 1.3), (x + r * dx * 0.8, y + r * 1.62)], "none", False, stroke="#5b4636", stroke_width=4 * s)
        d.rect(x - r * 0.17, y + r * 1.6, r * 0.34, r * 0.26, "#8a5a3b", rx=8 * s)
    return d


def lighthouse(rng):
    d = Drawing(1600, 2000)
    d.fill(d.gradient("#101b3d", "#33497f", "#c57b8a", "#ffc58f"))
    d.stars(rng, 160, 800)
    d.shape([(800, 640), (-100, 380), (-100, 840)], d.gradient((0, "#fff3b8", 0.0), (1, "#fff3b8", 0.6), across=True))
    d.shape([(800, 640), (1700, 420), (1700, 800)], d.gradient((0, "#fff3b8", 0.6), (1, "#fff3b8", 0.0), across=True))
    d.rect(0, 1480, 1600, 520, d.gradient("#8a6d8f", "#2a3a6b", "#101b3d"))
    for _ in range(240):
        d.rect(rng.uniform(-60, 1600), 1490 + 510 * rng.random() ** 1.2, rng.uniform(30, 180), 4, "#ffd9b0", opacity=f"{rng.uniform(0.1, 0.4):.2f}", rx=2)
    d.shape([(260, 1640), (470, 1480), (640, 1430), (980, 1420), (1180, 1500), (1360, 1640)], d.gradient("#2a2440", "#0d0b1c"))
    tower = [(700, 740), (900, 740), (960, 1440), (640, 1440)]
    d.shape(tower, d.gradient("#fdf6ec", "#d9c7c0", across=True))
    for k in range(3):
        t, u = (k * 2 + 1) / 7, (k * 2 + 2) / 7
        d.shape([(700 - 60 * t, 740 + 700 * t), (900 + 60 * t, 740 + 700 * t), (900 + 60 * u, 740 + 700 * u), (700 - 60 * u, 740 + 700 * u)], d.gradient("#d62839", "#8f1d2c", across=True))
    d.rect(660, 715, 280, 30, "#2b2d42", rx=6)
    d.rect(730, 580, 140, 136, "#fff3b8", rx=8)
    for x in (730, 798, 862):
        d.rect(x, 580, 8, 136, "#2b2d42")
    d.add("path", d="M700 582a100 100 0 0 1 200 0z", fill="#8f1d2c")
    return d


def sunflower(rng):
    d = Drawing(2000, 2000)
    d.fill(d.gradient((0, "#fff7df"), (1, "#f7d9a0"), radial=True))
    for n in range(1700, 0, -1):
        angle, r = n * 2.39996, 21.5 * n ** 0.5
        d.circle(1000 + r * math.cos(angle), 1000 + r * math.sin(angle), 9 + 8 * (n / 1700) ** 0.6, mix("#3f1d0b", "#f59e0b", min(1, (n / 1100) ** 1.6)) if n < 1300 else mix("#f59e0b", "#fcd34d", (n - 1300) / 400))
    return d


def waves(rng):
    d = Drawing(2400, 1600)
    d.fill("#f4efe3")
    for row in range(26):
        for column in range(-1, 13):
            x, y = column * 200 + 100 * (row % 2), 60 + row * 66
            tone = (math.sin(column * 0.7 + row * 0.33) + 1) / 2
            for ring, colour in enumerate([mix("#0b3c5d", "#1d7a8c", tone), "#f4efe3", mix("#1d5c83", "#3fa7a3", tone), "#f4efe3", mix("#328cc1", "#9ad1c3", tone)]):
                d.circle(x, y + 60, 100 - 19 * ring, colour)
    return d


def truchet(rng):
    d = Drawing(2000, 1500)
    d.fill("#1b1f3b")
    for i in range(16):
        for j in range(12):
            x, y = i * 125, j * 125
            flip = rng.random() < 0.5
            for colour, width in [("#1b1f3b", 62), (hue(0.02 + 0.13 * (i + j) / 28, 0.9, 0.64), 44), ("#1b1f3b", 10)]:
                for path in ([f"M{x + 62.5} {y}a62.500 62.500 0 0 1-62.500 62.500", f"M{x + 125} {y + 62.5}a62.500 62.500 0 0 0-62.500 62.500"] if flip
                             else [f"M{x + 62.5} {y}a62.500 62.500 0 0 0 62.500 62.500", f"M{x} {y + 62.5}a62.500 62.500 0 0 1 62.500 62.500"]):
                    d.add("path", d=path, fill="none", stroke=colour, stroke_width=width)
    return d


def monstera(rng):
    d = Drawing(1800, 2250)
    d.fill(d.gradient("#f6d9c9", "#e9a99b"))
    for layer in range(46):
        x, y, a, s = rng.uniform(0, 1800), rng.uniform(100, 2250), rng.uniform(0, 360), rng.uniform(0.8, 1.7)
        colour = mix(rng.choice(["#1f5d4c", "#2f7d5b", "#14463d", "#58a07a", "#b5c99a"]), "#0c2b27", 0.25 * rng.random())
        at = dict(transform=f"translate({x:.0f} {y:.0f}) rotate({a:.0f}) scale({s:.2f})")
        d.add("path", d="M0 0C120-60 170-210 0-400C-170-210-120-60 0 0z", fill=colour, **at)
        d.add("path", d="M0 0V-380M0-70 70-150M0-70-70-150M0-150 86-230M0-150-86-230M0-230 64-300M0-230-64-300", fill="none", stroke=mix(colour, "#ffffff", 0.3), stroke_width=5, **at)
    return d


def paper_cut(rng):
    d = Drawing(2400, 1600)
    d.fill("#fff5e4")
    for n, colour in enumerate(["#ffd9b8", "#ffb99a", "#f78f85", "#d8688a", "#9d4a8c", "#5e3584", "#2e2566"]):
        line = hill(rng, 2400, 330 + 190 * n, 110)
        for k in range(5):
            d.below([(x + 4, y - 4 * (5 - k)) for x, y in line], "#3b0d2b", opacity="0.05")
        d.below(line, colour)
    d.circle(1780, 300, 130, "#ff9f6b")
    return d


# Each with the format in which the gallery has it.
DRAWINGS = {
    "alpine-lake.jpg": alpine_lake, "autumn-tree.jpg": autumn_tree, "balloons.jpg": balloons, "bauhaus.png": bauhaus,
    "bubbles.png": bubbles, "calendar.png": calendar, "city-at-dusk.jpg": city_at_dusk, "contours.webp": contours,
    "dunes.webp": dunes, "first-snow.jpg": first_snow, "fjord-at-dawn.jpg": fjord_at_dawn, "flow.jpg": flow,
    "islands.jpg": islands, "isometric-city.png": isometric, "lavender-fields.webp": lavender_fields, "lighthouse.avif": lighthouse,
    "low-poly.png": low_poly, "misty-forest.jpg": misty_forest, "monstera.webp": monstera, "moon-over-hills.jpg": moon_over_hills,
    "northern-lights.avif": northern_lights, "paper-cut.png": paper_cut, "pebbles.webp": pebbles, "rainfall.png": rainfall,
    "ridgelines.png": ridgelines, "ringed-planet.jpg": ringed_planet, "sea-at-sunset.jpg": sea_at_sunset, "streams.png": streams,
    "sunburst.png": sunburst, "sunflower.webp": sunflower, "truchet.png": truchet, "waves.png": waves, "wind-rose.png": wind_rose,
}


def test_pattern(number):
    """A picture that shows a number: its colours by their hue, and its eight bits as light and dark blocks."""
    d = Drawing(*[(1000, 750), (750, 1000), (1200, 675)][number % 3])
    # Neighbouring numbers get hues far apart.
    start = number * 89 % 200 / 200
    d.fill(d.gradient(*[hue(start + 0.02 * step, 0.6, 0.5) for step in range(7)], across=True))
    d.fill(d.gradient((0, "#000", 0.3), (0.5, "#000", 0), (0.5, "#fff", 0), (1, "#fff", 0.2)))
    side = min(d.width, d.height) // 6
    left, top = (d.width - 4 * side) // 2, (d.height - 2 * side) // 2
    for bit in range(8):
        d.rect(left + bit % 4 * side, top + bit // 4 * side, side, side, hue(start, 0.6, 0.95 if number >> bit & 1 else 0.08))
    # Fine lines, so that zooming in shows something.
    for place in range(0, 1200, 50):
        d.rect(place, 0, 1, d.height, "#000", opacity="0.2")
        d.rect(0, place, d.width, 1, "#000", opacity="0.2")
    return d


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    if "--patterns" in sys.argv:
        drawings = {pattern(number): test_pattern(number) for number in range(196)}
    else:
        drawings = {name: draw(random.Random(name)) for name, draw in DRAWINGS.items()}
    for name, drawing in drawings.items():
        with open(os.path.join(folder, name + ".svg"), "w") as file:
            file.write(drawing.svg)


main()
