"""Runs the tasks with this library and its peers in turn, and writes RESULTS.md and its charts.

bench.py RUNNER FLOORS PYTHON-WITH-DEBIANS-LIBRARIES [ROUNDS [TASK...]]

With TASK, such as HEIC, only tasks whose names contain such a word run, and their tables are printed instead.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import images
import quality
import report

HERE = Path(__file__).resolve().parent
CORES = os.cpu_count() or 1
# The fewest pictures that a rate on all cores is measured with.
LEAST_PICTURES = 60
ONE_THREAD = {"VIPS_CONCURRENCY": "1", "MAGICK_THREAD_LIMIT": "1"}

# name, file, box, output, pictures a run, floor
TASKS = [
    ("12 MP JPEG", "jpeg-12mp.jpg", "300x300", "pixels", 6, "jpeg"),
    ("12 MP progressive JPEG", "jpeg-12mp-progressive.jpg", "300x300", "pixels", 3, "jpeg"),
    ("3 MP PNG", "png-3mp.png", "300x300", "pixels", 5, "png"),
    ("3 MP RGBA PNG", "png-rgba.png", "300x300", "pixels", 5, "png"),
    ("6 MP WebP", "webp-6mp.webp", "300x300", "pixels", 4, "webp"),
    ("3 MP AVIF", "avif-3mp.avif", "300x300", "pixels", 3, None),
    ("12 MP HEIC", "heic-12mp.heic", "300x300", "pixels", 2, None),
    ("2725×2225 JPEG to 720×588 JPEG", "jpeg-2725x2225.jpg", "720x588", "jpeg", 6, None),
    ("2048×1536 RGBA PNG to 720×540 PNG", "png-rgba.png", "720x540", "png", 4, None),
    ("300 px JPEG to 100 px", "jpeg-300.jpg", "100x100", "pixels", 200, "jpeg"),
    ("mixed folder", None, "300x300", "pixels", 1, None),
]

# name, whether it uses Debian's codecs as this library does
TOOLS = [
    ("quality", True), ("fast", True), ("vipsthumbnail", True), ("pyvips 8.14", True), ("Pillow 9.4", True),
    ("OpenCV 4.6", True), ("ImageMagick 6", True), ("pyvips newest", False), ("Pillow newest", False), ("OpenCV newest", False),
    ("floor", True),
]


class Runner:
    def __init__(self, words):
        self.ours, self.floors, self.debian = words[:3]
        self.rounds = int(words[3]) if len(words) > 3 else 5
        self.tasks = [task for task in TASKS if not words[4:] or any(word in task[0] for word in words[4:])]
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-bench-", dir="/dev/shm"))
        # In its own folder, since a thumbnail may have its source's name.
        self.made = self.folder / "made"
        self.made.mkdir()
        self.start_up = {
            "vipsthumbnail": self.timed(["vipsthumbnail", "--help"], repeats=5),
            "ImageMagick 6": self.timed(["convert-im6.q16", "-version"], repeats=5),
        }

    def words(self, tool, task, files, repeats, output, concurrency=1):
        name, _, box, encoding, _, floor = task
        worker = [str(HERE / "worker.py")]
        rest = [box, encoding, str(repeats), output, *files]
        if tool in ("quality", "fast"):
            return [self.ours, "thumbnails", tool, box, encoding, str(repeats), str(concurrency), output, *files]
        if tool == "floor":
            return [self.floors, floor, box.split("x")[0], str(repeats), files[0]] if floor else None
        library = {"pyvips": "vips", "Pillow": "pillow", "OpenCV": "opencv"}[tool.split()[0]]
        python = sys.executable if tool.endswith("newest") else self.debian
        return [python, *worker, library, *rest]

    def command(self, tool, task, files, output):
        _, _, box, encoding, _, _ = task
        if tool == "vipsthumbnail":
            ending = {"pixels": "", "jpeg": "[Q=80]", "png": "[compression=6,filter=none]"}[encoding]
            form = output or f"{self.made}/%s." + {"pixels": "v", "jpeg": "jpg", "png": "png"}[encoding]
            return ["vipsthumbnail", "--size", f"{box}>", "-o", form + ending, *files]
        out = output or f"{self.made}/out.{ {'pixels': 'ppm', 'jpeg': 'jpg', 'png': 'png'}[encoding] }"
        width, height = map(int, box.split("x"))
        options = {"jpeg": ["-quality", "80"], "png": ["-quality", "60"], "pixels": []}[encoding]
        # Twice the size, as the manual recommends for JPEG.
        hint = ["-define", f"jpeg:size={width * 2}x{height * 2}"]
        return ["convert-im6.q16", *hint, f"{files[0]}[0]", "-thumbnail", f"{box}>", *options, out]

    def timed(self, words, repeats=1):
        """Returns a command's CPU time and wall time in milliseconds and its peak in kilobytes."""
        runs = []
        for _ in range(repeats):
            # A small process starts it, since a process's peak includes what its parent held.
            start = time.perf_counter()
            done = subprocess.run(
                [self.floors, "command", *words], capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
            if done.returncode:
                return None
            runs.append(json.loads(done.stdout) | {"wall_ms": (time.perf_counter() - start) * 1000})
        return {key: statistics.median(run[key] for run in runs) for key in ("cpu_ms", "wall_ms", "peak_kb")}

    def run(self, tool, task, files, repeats, output):
        """Returns the costs of a picture in one run; `None` if the tool can't do the task."""
        if tool in self.start_up:
            return self.run_command(tool, task, files, repeats, output)
        words = self.words(tool, task, files, repeats, output)
        done = self.parsed(words) if words else None
        return done and done | ({"wall_ms": 1000 / done["rate"]} if "rate" in done else {})

    def parsed(self, words):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return None
        return json.loads(done.stdout.strip().splitlines()[-1])

    def run_command(self, tool, task, files, repeats, output):
        """Runs a command with as many pictures as it takes at once. Its start isn't counted."""
        if output != "-":
            done = self.timed(self.command(tool, task, files[:1], output))
            if done is None:
                return None
        total, wall, peak, count = 0.0, 0.0, 0.0, 0
        idle = self.start_up[tool]
        repeats = max(1, min(repeats, 5)) if tool == "ImageMagick 6" else repeats
        runs = [self.named_apart(files * repeats)] if tool == "vipsthumbnail" else [[file] for file in files * repeats]
        for names in runs:
            done = self.timed(self.command(tool, task, names, None))
            if done is None:
                return None
            total += done["cpu_ms"] - idle["cpu_ms"]
            wall += done["wall_ms"] - idle["wall_ms"]
            peak = max(peak, done["peak_kb"] - idle["peak_kb"])
            count += len(names)
        return {"cpu_ms": total / count, "wall_ms": wall / count, "peak_kb": peak}

    def named_apart(self, files):
        """Gives each file its own name, since libvips caches results by name."""
        names = []
        for index, file in enumerate(files):
            name = self.folder / f"in-{index}-{Path(file).name}"
            if not name.exists():
                name.symlink_to(file)
            names.append(str(name))
        return names

    def rate(self, tool, task, files, repeats):
        """Returns pictures a second on all cores, one at a time on each. Commands' starts count."""
        if tool in ("quality", "fast"):
            done = self.parsed(self.words(tool, task, files, repeats, "-", concurrency=CORES))
            return done and done["rate"]
        if tool in self.start_up:
            if tool == "ImageMagick 6":
                repeats = min(repeats, 5)
            lines = [self.line(tool, task, files, repeats, index) for index in range(CORES)]
            start = time.perf_counter()
            running = [
                subprocess.Popen(
                    line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD})
                for line in lines
            ]
            if any([process.wait() for process in running]):
                return None
            return repeats * len(files) * CORES / (time.perf_counter() - start)
        words = self.words(tool, task, files, repeats, "-")
        if not words:
            return None
        running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(CORES)]
        outputs = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            return None
        return sum(json.loads(output.strip().splitlines()[-1])["rate"] for output in outputs)

    def line(self, tool, task, files, repeats, index):
        """Returns a command for all pictures of one core, in one run if it takes several."""
        if tool == "vipsthumbnail":
            words = self.command(tool, task, self.named_apart(files * repeats), None)
            return [word.replace(f"{self.made}/", f"{self.made}/{index}-") for word in words]
        text = " ".join(f"'{word}'" for word in self.command(tool, task, ["@FILE@"], None))
        text = text.replace("'@FILE@[0]'", '"$file[0]"').replace(f"{self.made}/", f"{self.made}/{index}-")
        return ["sh", "-c", f"for file; do {text} || exit 1; done", "sh", *(files * repeats)]


def measure(runner):
    files = images.make(HERE.parent / ".images")
    results = []
    for task in runner.tasks:
        name, file, box, encoding, repeats, _ = task
        paths = [str(path) for path in ([files[file]] if file else images.mixed(files))]
        print(name, flush=True)
        measured = {tool: [] for tool, _ in TOOLS}
        ending = {"pixels": "png", "jpeg": "jpg", "png": "png"}[encoding]
        outputs = {tool: f"{runner.made}/{tool.replace(' ', '-')}.{ending}" for tool, _ in TOOLS}
        for turn in range(runner.rounds):
            is_last = turn == runner.rounds - 1 and file
            for tool, _ in TOOLS:
                if measured[tool] is None:
                    continue
                done = runner.run(tool, task, paths, repeats, outputs[tool] if is_last else "-")
                measured[tool] = measured[tool] + [done] if done else None
        row = {"task": name, "box": box, "encoding": encoding, "tools": {}}
        reference = quality.Reference(paths[0]) if file else None
        for tool, _ in TOOLS:
            if not measured[tool]:
                continue
            keys = [key for key in ("cpu_ms", "wall_ms", "peak_kb") if key in measured[tool][0]]
            result = {key: statistics.median(run[key] for run in measured[tool]) for key in keys}
            result["rate"] = 1000 / result["cpu_ms"]
            if tool != "floor":
                # With fewer pictures, the last one, which has the machine to itself, would distort the rate.
                enough = -(-LEAST_PICTURES // (len(paths) * CORES))
                result["rate_all"] = runner.rate(tool, task, paths, max(repeats, enough))
            if file and tool != "floor" and os.path.exists(outputs[tool]):
                result |= quality.compare(outputs[tool], reference)
                result["bytes"] = os.path.getsize(outputs[tool]) if encoding != "pixels" else 0
                os.remove(outputs[tool])
            row["tools"][tool] = result
        results.append(row)
        yield results


def main():
    runner = Runner(sys.argv[1:])
    raw = HERE.parent / ".images/results.json"
    try:
        # Saved after each task, since a long run may be stopped.
        for results in measure(runner):
            if len(runner.tasks) < len(TASKS):
                print(report.table(results[-1]), flush=True)
            else:
                raw.write_text(json.dumps({"results": results, "cores": CORES, "rounds": runner.rounds}))
    finally:
        shutil.rmtree(runner.folder)
    if len(runner.tasks) == len(TASKS):
        report.write(raw, HERE.parent)


if __name__ == "__main__":
    main()
