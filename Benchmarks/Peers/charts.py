"""Draws the charts from the tables of RESULTS.md: charts.py RESULTS.md RESULTS.svg SPEED.svg"""

import math
import sys
from html import escape
from pathlib import Path

# Okabe and Ito's colours, which colour-blind readers can distinguish. A newer version of a program is drawn hollow.
COLOURS = {
    "Pipeline": "#d55e00", "vipsthumbnail": "#0072b2", "pyvips": "#56b4e9", "Pillow": "#009e73", "OpenCV": "#cc79a7",
    "ImageMagick": "#555555",
}
FLOOR = "floor: the codec alone"
BASE = "Pipeline, .quality"
SPEED_TASKS = ["12 MP JPEG", "3 MP PNG"]
SPEED_TOOLS = ["Pipeline, .fast", BASE, "OpenCV 4.6", "Pillow 9.4", "vipsthumbnail", "ImageMagick 6"]


def tasks(text):
    """Returns the rows of each table by task and tool: CPU in milliseconds, pictures a second, PSNR in dB or None."""
    found, rows = {}, None
    for line in text.splitlines():
        if line.startswith("### "):
            rows = found[line[4:]] = {}
        elif rows is not None and line.startswith("| ") and not line.startswith("| |"):
            cells = [cell.strip().strip("*").replace("`", "").replace(",", "") for cell in line.strip("|").split("|")]
            tool = line.strip("|").split("|")[0].strip().strip("*").replace("`", "")
            rows[tool] = {"cpu": float(cells[1]), "rate": float(cells[3]), "psnr": float(cells[6]) if cells[6] else None}
    return found


def text(x, y, words, size=11, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {extra}>{escape(words)}</text>'


def head(width, height, title):
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" fill="#222"><title>{escape(title)}</title>',
        '<rect width="100%" height="100%" rx="6" fill="white"/>',
    ]


def mark(x, y, tool):
    colour = COLOURS[tool.split()[0].rstrip(",")]
    if tool == BASE:
        return f'<rect x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="{colour}"/>'
    if tool.startswith("Pipeline"):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{colour}"/>'
    if "newest" in tool:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="white" stroke="{colour}" stroke-width="2"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'


def quality(found):
    """Draws a panel for each task: CPU time relative to Pipeline's from left to right, PSNR from bottom to top."""
    panels = {task: rows for task, rows in found.items() if any(row["psnr"] for row in rows.values())}
    low, high, least, most = 35, 65, 1 / 8, 16
    columns, width, height, left, top = 3, 300, 220, 60, 56
    lines = -(-len(panels) // columns)
    total = top + lines * height + 64
    out = head(columns * width + 30, total, "CPU time and quality, task by task")
    out.append(text(left, 28, "CPU time and quality of a thumbnail, task by task", 16, extra='font-weight="bold"'))
    out.append(text(columns * width + 10, 28, "↖ up and left is better", 13, "end", 'fill="#d55e00" font-weight="bold"'))
    for index, (task, rows) in enumerate(panels.items()):
        x0, y0 = left + index % columns * width, top + index // columns * height
        w, h = width - 50, height - 66
        across = lambda cpu: x0 + w * math.log(max(least, min(most, cpu / rows[BASE]["cpu"])) / least) / math.log(most / least)
        up = lambda psnr: y0 + h * (high - psnr) / (high - low)
        out.append(text(x0, y0 - 6, task, 12, extra='font-weight="bold"'))
        for psnr in range(40, high, 10):
            out.append(f'<path d="M{x0} {up(psnr):.1f}h{w}" stroke="#ddd"/>' + text(x0 - 5, up(psnr) + 4, str(psnr), 10, "end"))
        for ratio, label in ((1 / 8, "⅛"), (1 / 2, "½"), (1, "1"), (2, "2"), (4, "4"), (16, "16")):
            x = across(ratio * rows[BASE]["cpu"])
            out.append(f'<path d="M{x:.1f} {y0}v{h}" stroke="#ddd"/>' + text(x, y0 + h + 13, label, 10, "middle"))
        out.append(f'<rect x="{x0}" y="{y0}" width="{w}" height="{h}" fill="none" stroke="#888"/>')
        if FLOOR in rows:
            out.append(f'<path d="M{across(rows[FLOOR]["cpu"]):.1f} {y0}v{h}" stroke="#222" stroke-dasharray="5 3"/>')
        for tool, row in sorted(rows.items(), key=lambda item: item[0].startswith("Pipeline")):
            if row["psnr"]:
                out.append(mark(across(row["cpu"]), up(row["psnr"]), tool))
        beyond = [(row["psnr"], tool, row["cpu"] / rows[BASE]["cpu"]) for tool, row in rows.items() if across(row["cpu"]) <= x0]
        if beyond:
            names = ", ".join(f"{tool.replace('Pipeline, ', '').split()[0]} {ratio:.2f}" for _, tool, ratio in beyond)
            out.append(text(x0 + 12, up(beyond[0][0]) + 4, f"← {names}", 10))
        if index % columns == 0:
            middle = y0 + h / 2
            out.append(text(x0 - 30, middle, "PSNR, dB", 11, "middle", f'transform="rotate(-90 {x0 - 30} {middle})"'))
        if index + columns >= len(panels):
            out.append(text(x0 + w / 2, y0 + h + 29, "CPU time; Pipeline .quality is 1", 11, "middle"))
    tools = list(dict.fromkeys(tool for rows in panels.values() for tool in rows if tool != FLOOR))
    for index, tool in enumerate(tools):
        x, y = left + index % 6 * 148, total - 40 + index // 6 * 22
        out.append(mark(x, y - 4, tool) + text(x + 12, y, tool))
    x, y = left + len(tools) % 6 * 148, total - 40 + len(tools) // 6 * 22
    out.append(f'<path d="M{x} {y - 11}v14" stroke="#222" stroke-dasharray="5 3"/>' + text(x + 12, y, "the codec's scaled decode alone"))
    return "\n".join(out + ["</svg>\n"])


def speed(found):
    """Draws bars of thumbnails a second on one core, with the PSNR of each."""
    width, left, bar = 760, 150, 20
    most = max(found[task][tool]["rate"] for task in SPEED_TASKS for tool in SPEED_TOOLS)
    total = 46 + len(SPEED_TASKS) * (len(SPEED_TOOLS) * bar + 34)
    out = head(width, total, "Thumbnails a second")
    out.append(text(16, 26, "Thumbnails a second on one core, and their PSNR: longer is better", 14, extra='font-weight="bold"'))
    y = 56
    for task in SPEED_TASKS:
        out.append(text(16, y, task, 12, extra='font-weight="bold"'))
        y += 8
        for tool in SPEED_TOOLS:
            row = found[task][tool]
            length = (width - left - 140) * row["rate"] / most
            colour = COLOURS["Pipeline"] if tool.startswith("Pipeline") else "#8c9bab"
            out.append(text(left - 8, y + 14, tool, 12, "end"))
            out.append(f'<rect x="{left}" y="{y + 3}" width="{length:.1f}" height="{bar - 6}" fill="{colour}"/>')
            out.append(text(left + length + 6, y + 14, f"{row['rate']:.0f} a second, {row['psnr']:.0f} dB", 12))
            y += bar
        y += 26
    return "\n".join(out + ["</svg>\n"])


if __name__ == "__main__":
    results = tasks(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(quality(results))
    Path(sys.argv[3]).write_text(speed(results))
