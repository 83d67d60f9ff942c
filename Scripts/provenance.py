#!/usr/bin/env python3
"""Signs test pictures with c2pa-python, and compares pipectl with its reader.

    Scripts/provenance.py PIPECTL FOLDER    FOLDER has chain.pem and signer.key
"""

import io
import json
import pathlib
import subprocess
import sys

import c2pa

pipectl, folder = sys.argv[1], pathlib.Path(sys.argv[2])
good = pathlib.Path(__file__).parent.parent / "Tests/Images/good"
TYPES = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "avif": "image/avif", "heif": "image/heic"}
PICTURES = [
    "jpeg-greyscale.jpg", "jpeg-progressive-444.jpg", "jpeg-exif-xmp-icc.jpg", "exif-orientation-6.jpg",
    "png-basi2c08.png", "png-icc-rec2020.png", "png-apng-animated.png",
    "webp-lossy.webp", "webp-lossless.webp", "webp-lossy-alpha.webp", "webp-animated.webp",
    "avif-photo.avif", "heic-128.heif",
]
STRIPPED = (".jpg", ".png", ".webp")
URL = "http://127.0.0.1:1/picture.c2pa?a=1&b=2"
CREATED = {"actions": [{
    "action": "c2pa.created",
    "digitalSourceType": "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"}]}
signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo(
    b"es256", (folder / "chain.pem").read_bytes(), (folder / "signer.key").read_bytes(), None))
failures = checks = 0


def check(holds, text):
    global failures, checks
    checks += 1
    if not holds:
        failures += 1
        print(f"FAIL {text}")


def sign(path, name, intent=None, more=(), url=None, is_embedded=True):
    """Signs a picture, and returns the path of the new file."""
    assertions = [] if intent else [{"label": "c2pa.actions.v2", "data": CREATED}]
    builder = c2pa.Builder({
        "claim_generator_info": [{"name": "pipectl's tests", "version": "1"}], "title": name,
        "assertions": [*assertions, *more]})
    if intent:
        builder.set_intent(intent)
    if url:
        builder.set_remote_url(url)
    if not is_embedded:
        builder.set_no_embed()
    signed = folder / name
    with path.open("rb") as source, signed.open("w+b") as result:
        builder.sign(signer, TYPES[path.suffix[1:]], source, result)
    return signed


def read(path):
    """What c2pa-python finds: the active label, the number of manifests, and the state. None without manifests."""
    try:
        reader = c2pa.Reader(TYPES[path.suffix[1:]], io.BytesIO(path.read_bytes()))
    except c2pa.C2paError as error:
        if "ManifestNotFound" in str(error) or "no JUMBF" in str(error):
            return None
        return ("error", 0, str(error))
    found = json.loads(reader.json())
    # A chain of one's own is never trusted.
    codes = {status["code"] for status in found.get("validation_status", [])} - {"signingCredential.untrusted"}
    return (found["active_manifest"], len(found["manifests"]), "valid" if not codes else " ".join(sorted(codes)))


def run(*arguments, **options):
    result = subprocess.run([pipectl, *map(str, arguments)], capture_output=True, **options)
    check(result.returncode == 0, f"pipectl {' '.join(map(str, arguments))}: {result.stderr.decode(errors='replace')}")
    return result


def info(path):
    return json.loads(run("info", path, "--json").stdout)


def strip(path, name, *options):
    """Strips a file, and returns the new one, what its JSON says, and the warnings."""
    new = folder / name
    result = run("strip", path, *options, "-o", new, "-y", "--json")
    return new, json.loads(result.stdout)["provenance"], result.stderr.decode()


def compare(path):
    """Compares info, strip and convert with the reader."""
    name, theirs, ours = path.name, read(path), info(path)
    check(theirs is not None, f"{name}: c2pa-python doesn't find its own manifest")
    check(
        theirs and (ours["provenance"], ours["provenanceManifests"]) == theirs[:2],
        f"{name}: info says {ours['provenance']}, {ours['provenanceManifests']}; c2pa-python {theirs}")
    state = theirs[2] if theirs else ""
    if path.suffix in STRIPPED:
        clean, outcome, words = strip(path, f"clean-{name}")
        check(read(clean) is None and outcome == "removed" and not words, f"{name}: stripped {read(clean)} {outcome} {words}")
        check(info(clean)["provenance"] is None, f"{name}: info finds a manifest in the stripped file")
        check(run("compare", path, clean).returncode == 0, f"{name}: stripping changed pixels")
        for options in ([], ["--gps"]):
            kept, outcome, words = strip(path, f"kept-{name}", "--keep", "provenance", *options)
            found = read(kept)
            check(found and found[:2] == theirs[:2], f"{name} {options}: keeping lost the manifest: {found}")
            is_same = kept.read_bytes() == path.read_bytes()
            check(outcome == ("kept" if is_same else "broken"), f"{name} {options}: {outcome}, and {is_same=}")
            check(bool(words) != is_same, f"{name} {options}: the warning is {words!r}, and {is_same=}")
            check(found and (found[2] == state if is_same else "mismatch" in found[2]), f"{name} {options}: {outcome}, and c2pa-python says {found}")
            print(f"  {name} strip --keep provenance {' '.join(options)}: {outcome}, {found and found[2]}")
        second, _, _ = strip(path, f"gps-{name}", "--gps")
        check(read(second) is None, f"{name}: --gps left a manifest")
    else:
        result = subprocess.run([pipectl, "strip", path, "-o", "-"], capture_output=True)
        check(result.returncode == 1 and b"only JPEG, PNG and WebP" in result.stderr, f"{name}: strip said {result.stderr}")
    for options in ([], ["--metadata", "all"]):
        new = folder / f"{name}.converted.webp"
        result = run("convert", path, new, "-y", "--json", *options)
        words = result.stderr.decode()
        check(read(new) is None, f"{name} {options}: convert kept a manifest")
        check(words.count("(C2PA)") == 1, f"{name} {options}: convert said {words!r}")
        check(json.loads(result.stdout)["provenance"] == "removed", f"{name} {options}: convert's JSON")
        check(info(new)["provenanceURL"] is None, f"{name} {options}: convert kept the address of manifests")


for original in map(good.joinpath, PICTURES):
    signed = sign(original, f"signed-{original.name}")
    print(f"{original.name}: {read(signed)}")
    check(read(signed)[2] == "valid", f"{original.name}: the signed file isn't valid")
    compare(signed)
    if original.suffix in STRIPPED:
        check(strip(original, f"plain-{original.name}")[1] is None, f"{original.name}: strip found provenance")
    for kind in (c2pa.C2paBuilderIntent.EDIT, c2pa.C2paBuilderIntent.UPDATE):
        compare(sign(signed, f"{kind.name}-{original.name}", kind))
    # Segments, and boxes with more than 64 KB.
    compare(sign(original, f"large-{original.name}", more=[{"label": "org.test.large", "data": {"text": "x" * 200_000}}]))
    both = sign(original, f"both-{original.name}", url=URL)
    remote = sign(original, f"remote-{original.name}", url=URL, is_embedded=False)
    found = info(remote)
    # c2pa-python writes XMP into a WebP without saying so in VP8X, and into boxes of an AVIF and HEIC where info doesn't look.
    is_readable = original.suffix in (".jpg", ".png")
    if is_readable:
        check(found["provenanceURL"] == URL and found["provenanceBytes"] == 0, f"remote-{original.name}: {found}")
        check(info(both)["provenanceURL"] == URL, f"both-{original.name}: no address")
    compare(both)
    if original.suffix in STRIPPED:
        check(URL.split("?")[0].encode() not in strip(remote, f"stripped-{original.name}")[0].read_bytes(),
            f"remote-{original.name}: stripping left the address")
print(f"{checks} checks, {failures} failed")
sys.exit(failures > 0)
