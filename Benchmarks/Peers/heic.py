"""Makes a HEIC as phones write it: a grid of tiles coded with HEVC, and a thumbnail.

heic.py PHOTOGRAPH OUTPUT WIDTH HEIGHT

Pixels are scaled and cut by vips, and coded by heif-enc. The boxes around them are assembled here
(ISO/IEC 23008-12).
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TILE = 512
THUMBNAIL = 320


def box(kind, *parts):
    content = b"".join(parts)
    return struct.pack(">I4s", 8 + len(content), kind) + content


def full(kind, version, flags, *parts):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def boxes(content):
    """Yields the boxes in some bytes: their kinds and contents."""
    position = 0
    while position + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, position)
        start = position + 8
        if length == 1:
            length = struct.unpack_from(">Q", content, start)[0]
            start += 8
        end = position + length if length else len(content)
        yield kind, content[start:end]
        position = end


def inside(content, kind, skipped=0):
    return next(body for name, body in boxes(content[skipped:]) if name == kind)


def places(iloc, count_bytes=2):
    """Returns the extents of the items in the file, by item number."""
    sizes = struct.unpack_from(">H", iloc, 4)[0]
    widths = [sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15]
    version, position = iloc[0], 8
    found = {}

    def take(width):
        nonlocal position
        position += width
        return int.from_bytes(iloc[position - width:position], "big")

    for _ in range(struct.unpack_from(">H", iloc, 6)[0]):
        number = take(2)
        method = take(2) & 15 if version > 0 else 0
        take(2)
        base = take(widths[2])
        extents = [(take(widths[0]) + base, take(widths[1])) for _ in range(take(2))]
        if method == 0:
            found[number] = extents
    return found


def coded(path):
    """Returns the pictures of a file by heif-enc in order: decoder configuration and coded data."""
    data = path.read_bytes()
    meta = inside(data, b"meta")
    properties = [(kind, body) for kind, body in boxes(inside(inside(meta, b"iprp", 4), b"ipco"))]
    ipma = inside(inside(meta, b"iprp", 4), b"ipma")
    wide = ipma[3] & 1
    position, configurations = 8, {}
    for _ in range(struct.unpack_from(">I", ipma, 4)[0]):
        number, count = struct.unpack_from(">HB", ipma, position)
        position += 3
        for _ in range(count):
            index = struct.unpack_from(">H" if wide else ">B", ipma, position)[0] & (0x7FFF if wide else 0x7F)
            position += 2 if wide else 1
            if properties[index - 1][0] == b"hvcC":
                configurations[number] = properties[index - 1][1]
    where = places(inside(meta, b"iloc", 4))
    kinds = [(struct.unpack_from(">H", body, 4)[0], body[8:12]) for kind, body in boxes(inside(meta, b"iinf", 4)[6:])]
    return [
        (configurations[number], b"".join(data[start:start + length] for start, length in where[number]))
        for number, kind in kinds if kind == b"hvc1"
    ]


def size(width, height):
    return full(b"ispe", 0, 0, struct.pack(">II", width, height))


def assemble(width, height, tiles, thumbnail, small):
    """Returns the file's bytes."""
    columns, rows = -(-width // TILE), -(-height // TILE)
    grid = struct.pack(">BBBBII", 0, 1, rows - 1, columns - 1, width, height)
    properties = [
        size(TILE, TILE), box(b"hvcC", tiles[0][0]), size(width, height), size(*small), box(b"hvcC", thumbnail[0])
    ]
    items = [(b"hvc1", data, [1, 2], 1) for _, data in tiles]
    items += [(b"grid", grid, [3], 0), (b"hvc1", thumbnail[1], [4, 5], 0)]
    main = len(tiles) + 1

    def meta(start):
        locations, offset = [], start
        for number, (_, data, _, _) in enumerate(items, 1):
            locations.append(struct.pack(">HHHII", number, 0, 1, offset, len(data)))
            offset += len(data)
        entries = [
            full(b"infe", 2, hidden, struct.pack(">HH4sB", number, 0, kind, 0))
            for number, (kind, _, _, hidden) in enumerate(items, 1)
        ]
        used = [
            struct.pack(">HB", number, len(own)) + bytes(own) for number, (_, _, own, _) in enumerate(items, 1)
        ]
        links = box(b"dimg", struct.pack(f">HH{len(tiles)}H", main, len(tiles), *range(1, main)))
        links += box(b"thmb", struct.pack(">HHH", main + 1, 1, main))
        return full(
            b"meta", 0, 0, full(b"hdlr", 0, 0, bytes(4), b"pict", bytes(13)),
            full(b"pitm", 0, 0, struct.pack(">H", main)),
            full(b"iloc", 0, 0, b"\x44\x00", struct.pack(">H", len(items)), *locations),
            full(b"iinf", 0, 0, struct.pack(">H", len(items)), *entries), full(b"iref", 0, 0, links),
            box(b"iprp", box(b"ipco", *properties), full(b"ipma", 0, 0, struct.pack(">I", len(items)), *used)))

    kind = box(b"ftyp", b"heic", bytes(4), b"mif1heic")
    start = len(kind) + len(meta(0)) + 8
    return kind + meta(start) + box(b"mdat", *(data for _, data, _, _ in items))


def make(photograph, output, width, height):
    folder = Path(tempfile.mkdtemp(prefix="heic-"))

    def vips(*words):
        subprocess.run(["vips", *map(str, words)], check=True)

    def encode(files, name):
        subprocess.run(
            ["heif-enc", "-q", "60", "-p", "preset=fast", "-o", str(folder / name), *map(str, files)], check=True,
            stdout=subprocess.DEVNULL)
        return coded(folder / name)

    vips("thumbnail", photograph, folder / "whole.v", width, "--height", height, "--size", "force")
    columns, rows = -(-width // TILE), -(-height // TILE)
    vips("embed", folder / "whole.v", folder / "padded.v", 0, 0, columns * TILE, rows * TILE, "--extend", "copy")
    files = []
    for index in range(columns * rows):
        row, column = divmod(index, columns)
        files.append(folder / f"{index:04}.png")
        vips("crop", folder / "padded.v", files[-1], column * TILE, row * TILE, TILE, TILE)
    tiles = encode(files, "tiles.heic")
    assert len({configuration for configuration, _ in tiles}) == 1
    small = (THUMBNAIL, round(THUMBNAIL * height / width) // 2 * 2)
    vips(
        "thumbnail", folder / "whole.v", folder / "small.png", small[0], "--height", small[1], "--size", "force")
    thumbnail = encode([folder / "small.png"], "small.heic")[0]
    Path(output).write_bytes(assemble(width, height, tiles, thumbnail, small))
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
