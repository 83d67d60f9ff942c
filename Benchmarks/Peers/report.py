"""Writes RESULTS.md and the charts from the measurements: report.py RESULTS.json FOLDER"""

import json
import platform
import sys
from pathlib import Path

import charts

NAMES = {"quality": "**Pipeline, `.quality`**", "fast": "**Pipeline, `.fast`**", "floor": "floor: the codec alone"}
DEBIAN = ["vipsthumbnail", "pyvips 8.14", "Pillow 9.4", "OpenCV 4.6", "ImageMagick 6"]


def number(value, digits=1):
    return "" if value is None else f"{value:,.{digits}f}"


def table(row):
    lines = [
        "| | CPU, ms | wall, ms | a second, one core | all cores | peak, MB | PSNR, dB | SSIM | PSNR, linear light | bytes |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for tool, result in row["tools"].items():
        cells = [
            NAMES.get(tool, tool), number(result["cpu_ms"], 2), number(result.get("wall_ms"), 2),
            number(result["rate"]), number(result.get("rate_all")),
            "" if tool == "floor" else number(result["peak_kb"] / 1024), number(result.get("psnr")),
            number(result.get("ssim"), 4), number(result.get("linear")),
            number(result["bytes"], 0) if result.get("bytes") else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_name(results):
    return {row["task"]: row["tools"] for row in results}


def verdicts(results):
    """Returns a line for each target: pass or miss, and by how much."""
    tasks = by_name(results)
    lines = []

    def say(passed, text):
        lines.append(f"- {'pass' if passed else '**miss**'}: {text}")

    for name, tools in tasks.items():
        for peer in DEBIAN:
            if peer not in tools or "psnr" not in tools[peer]:
                continue
            best = min(
                (tools[ours]["cpu_ms"] / tools[peer]["cpu_ms"], ours)
                for ours in ("quality", "fast")
                if ours in tools
                and (tools[ours]["psnr"] >= tools[peer]["psnr"] or ours == "quality")
            )
            ours = tools[best[1]]
            say(
                best[0] <= 1.05 and ours["psnr"] >= tools[peer]["psnr"],
                f"{name}, against {peer}: `.{best[1]}` takes {best[0]:.2f} of its CPU at {ours['psnr']:.1f} dB, against its "
                f"{tools[peer]['psnr']:.1f} dB (at most 1.05, and at least its PSNR)",
            )
    large = tasks.get("12 MP JPEG", {})
    if "floor" in large:
        for ours, most, least in (("fast", 1.1, 46), ("quality", 1.4, 54)):
            ratio = large[ours]["cpu_ms"] / large["floor"]["cpu_ms"]
            say(
                ratio <= most and large[ours]["psnr"] >= least,
                f"12 MP JPEG, `.{ours}`: {ratio:.2f} of the floor's CPU (at most {most}) at {large[ours]['psnr']:.1f} dB "
                f"(at least {least})",
            )
    alpha = tasks.get("2048×1536 RGBA PNG to 720×540 PNG", {})
    if "vipsthumbnail" in alpha:
        ratio = max(alpha[ours]["rate"] for ours in ("quality", "fast")) / alpha["vipsthumbnail"]["rate"]
        say(ratio >= 1.8, f"the RGBA task: {ratio:.2f} of vipsthumbnail's throughput (at least 1.8)")
    small = tasks.get("300 px JPEG to 100 px", {})
    if small:
        time = min(small[ours]["cpu_ms"] for ours in ("quality", "fast"))
        say(time <= 0.6, f"the small JPEG: {time:.2f} ms (at most 0.6)")
    if "vipsthumbnail" in large:
        ours, theirs = (large[tool]["peak_kb"] / 1024 for tool in ("quality", "vipsthumbnail"))
        say(ours <= theirs, f"12 MP JPEG, peak memory above idle: {ours:.1f} MB (at most vipsthumbnail's {theirs:.1f})")
    return lines


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


HEAD = """# Thumbnails: this library and what one would take instead

Made by `make bench` on {cores} cores of {processor}; medians of {rounds} rounds in which all take turns. Other
machines give other times, so compare the ratios.

CPU is the time of all threads for one picture in a running process; for commands, the time of `--help` is subtracted.
The rate on one core follows from it. "All cores" processes one picture on each core concurrently. It includes a
command's start, once a core for `vipsthumbnail`, which takes many files, and once a picture for ImageMagick. The peak is
the memory above that before the first picture. PSNR and SSIM compare the picture with a full decode scaled with a
Lanczos-3 kernel, first on gamma-encoded sRGB, then in linear light. Tasks that end in pixels are compared without loss
by a codec; tasks that end in a file, with that file's pixels.

`vipsthumbnail`, pyvips 8.14, Pillow 9.4, OpenCV 4.6 and ImageMagick 6 use the same codecs of Debian 12 as this library
does. The "newest" ones, from PyPI, bring their own newer codecs. The floor is the codec's own scaled decode alone.

![CPU and quality, task by task](results.svg)

"""


def write(source, folder):
    data = json.loads(Path(source).read_text())
    results = data["results"]
    lines = verdicts(results)
    text = HEAD.format(cores=data["cores"], rounds=data["rounds"], processor=processor())
    text += "## Targets\n\n" + "\n".join(lines) + "\n\n## Tasks\n"
    for row in results:
        text += f"\n### {row['task']}\n\n{table(row)}\n"
    (folder / "RESULTS.md").write_text(text)
    found = charts.tasks(text)
    (folder / "results.svg").write_text(charts.quality(found))
    (folder / "../Pictures/speed.svg").write_text(charts.speed(found))
    print("\n".join(lines))


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
