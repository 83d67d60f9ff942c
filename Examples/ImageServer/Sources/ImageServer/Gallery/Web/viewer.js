"use strict";
// Shows a picture by tiles of the IIIF Image API: those that are in sight, at the scale that fits the screen. Below them lies
// the rendition of the whole picture that the page has without a script, and tiles of other scales until the right ones
// have been decoded, so that nothing is ever blank.
const [stage, base, state, out, whole, scale] =
  ["stage", "base", "state", "out", "whole", "scale"].map((id) => document.getElementById(id));
let info, zoom = 1, left = 0, top_ = 0;        // zoom: screen pixels for each pixel of the picture
// The picture that is wanted; until it has been decoded, `info` is of an earlier one.
let picture = { name: document.body.dataset.name, iiif: document.body.dataset.iiif }, pictures = [];
const tiles = new Map(), calm = matchMedia("(prefers-reduced-motion: reduce)");

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
// The smallest zoom: the whole picture, and small ones at most doubled.
const fit = () => Math.min(stage.clientWidth / info.width, stage.clientHeight / info.height, 2);
const isWhole = () => zoom < fit() * 1.001;

function factorFor(zoom) {
  const wanted = 1 / (zoom * devicePixelRatio);
  return info.tiles[0].scaleFactors.filter((factor) => factor <= Math.max(1, wanted * 1.001)).pop() ?? 1;
}

// The tiles in sight, by their paths below the picture's base.
function tilesInSight() {
  const factor = factorFor(zoom), side = info.tiles[0].width * factor, sight = new Map();
  const [right, bottom] = [left + stage.clientWidth / zoom, top_ + stage.clientHeight / zoom];
  for (let y = Math.max(0, Math.floor(top_ / side)) * side; y < Math.min(info.height, bottom); y += side)
    for (let x = Math.max(0, Math.floor(left / side)) * side; x < Math.min(info.width, right); x += side) {
      const [w, h] = [Math.min(side, info.width - x), Math.min(side, info.height - y)];
      const size = factor === 1 ? "max" : Math.ceil(w / factor) + "," + Math.ceil(h / factor);
      const region = w === info.width && h === info.height ? "full" : [x, y, w, h];
      sight.set(`${region}/${size}/0/default.jpg`, { box: [x, y, w, h], factor });
    }
  return sight;
}

// Puts an image in its place. Edges fall on whole pixels of the screen, so that no seam shows between tiles. Browsers count
// no transform as a shift of the layout.
function place(image, [x, y, w, h]) {
  const edge = (value) => Math.round(value * zoom * devicePixelRatio) / devicePixelRatio;
  const [l, t] = [edge(x - left), edge(y - top_)];
  const [width, height] = [edge(x + w - left) - l, edge(y + h - top_) - t];
  Object.assign(image.style, { transform: `translate(${l}px, ${t}px)`, width: width + "px", height: height + "px" });
}

// Shows the present zoom and place, within the limits: no smaller than the whole picture, and never out of sight.
function draw() {
  if (!info) return;
  zoom = clamp(zoom, fit(), Math.max(8, fit()));
  const [width, height] = [stage.clientWidth / zoom, stage.clientHeight / zoom];
  left = width >= info.width ? (info.width - width) / 2 : clamp(left, 0, info.width - width);
  top_ = height >= info.height ? (info.height - height) / 2 : clamp(top_, 0, info.height - height);
  place(base, [0, 0, info.width, info.height]);
  for (const tile of tiles.values()) place(tile.image, tile.box);
  scale.textContent = `${Math.round(zoom * 100)} %`;
  out.disabled = draw.wasWhole = isWhole();
  delete stage.dataset.settled;
  clearTimeout(draw.timer);
  draw.timer = setTimeout(ask, stage.childElementCount > 1 ? 60 : 0);
}

// Asks for the tiles that are missing, and gives up those that are no longer wanted.
function ask() {
  const wanted = tilesInSight();
  for (const [path, tile] of tiles) if (!wanted.has(path) && !tile.image.isConnected) drop(path, tile);
  for (const [path, { box, factor }] of wanted) {
    if (tiles.has(path)) continue;
    const image = new Image(), tile = { image, box, hasFailed: false };
    image.alt = "";
    image.className = "tile";
    image.style.zIndex = 64 - Math.log2(factor);
    tiles.set(path, tile);
    image.src = `${info.base}/${path}`;
    image.decode().then(() => {
      if (tiles.get(path) !== tile) return;
      place(image, box);
      stage.append(image);
    }, () => { tile.hasFailed = true; }).finally(settle);
  }
  settle();
  clearTimeout(ask.timer);
  ask.timer = setTimeout(announce, 500);
}

function drop(path, tile) {
  tiles.delete(path);
  tile.image.removeAttribute("src");
  tile.image.remove();
}

// Removes tiles of other scales and places once those in sight are all there.
function settle() {
  const wanted = tilesInSight();
  if (![...wanted.keys()].every((path) => tiles.get(path)?.image.isConnected || tiles.get(path)?.hasFailed)) return;
  for (const [path, tile] of tiles) if (!wanted.has(path)) drop(path, tile);
  stage.dataset.settled = "";
}

// Says what is in sight.
function announce() {
  const third = (start, shown, all, names) => shown >= all ? "" : names[clamp(Math.floor((start + shown / 2) / all * 3), 0, 2)];
  const across = third(left, stage.clientWidth / zoom, info.width, ["left", "", "right"]);
  const down = third(top_, stage.clientHeight / zoom, info.height, ["top", "", "bottom"]);
  state.textContent = isWhole() ? `${base.alt}, whole` : `${scale.textContent}, ${[down, across].filter(Boolean).join(" ") || "centre"}`;
}

// Zooms about a point of the stage, which keeps its place.
function zoomBy(ratio, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  if (!info) return;
  const next = clamp(zoom * ratio, fit(), Math.max(8, fit()));
  left += x / zoom - x / next;
  top_ += y / zoom - y / next;
  zoom = next;
  draw();
}

// The same in a fifth of a second. Steps that follow each other add up.
function glide(ratio, x, y) {
  if (!info) return;
  const from = zoom, target = clamp((glide.target ?? zoom) * ratio, fit(), Math.max(8, fit())), start = performance.now();
  cancelAnimationFrame(glide.frame);
  if (calm.matches) return zoomBy(target / zoom, x, y);
  glide.target = target;
  const step = (now) => {
    const part = clamp((now - start) / 200, 0, 1);
    zoomBy(from * (target / from) ** (1 - (1 - part) ** 3) / zoom, x, y);
    if (part < 1) glide.frame = requestAnimationFrame(step);
    else stop();
  };
  glide.frame = requestAnimationFrame(step);
}

function stop() {
  cancelAnimationFrame(glide.frame);
  delete glide.target;
}

// Switches between the whole picture and its own pixels.
const turn = (x, y) => glide((isWhole() ? Math.max(1, fit() * 2) : fit()) / (glide.target ?? zoom), x, y);

function pan(x, y) {
  left -= x / zoom;
  top_ -= y / zoom;
  draw();
}

// Shows another picture once a rendition of it has been decoded; until then the present one stays.
async function step(by) {
  const index = pictures.findIndex(({ name }) => name === picture.name);
  if (index < 0) return location.assign(document.getElementById(by < 0 ? "previous" : "next").href);
  const next = picture = pictures[(index + by + pictures.length) % pictures.length], image = new Image();
  image.src = next.screen;
  await image.decode().catch(() => {});
  if (picture === next) await show(next, image.src);
}

async function show(next, source) {
  const response = await fetch(next.iiif + "/info.json").catch(() => null);
  const found = response?.ok ? await response.json() : null;
  if (picture !== next) return;
  stop();
  for (const [path, tile] of tiles) drop(path, tile);
  if (source) describe(next, source);
  info = found && { ...found, base: next.iiif };
  if (!found) {
    stage.dataset.message = state.textContent = `${base.alt} can't be loaded now.`;
    return;
  }
  delete stage.dataset.message;
  zoom = 0;
  draw();
}

// Names the picture in the page and its address.
function describe({ name, title, details, viewer, iiif }, source) {
  const index = pictures.findIndex((picture) => picture.name === name), link = (id) => document.getElementById(id);
  base.src = source;
  base.alt = document.querySelector("h1").textContent = title;
  link("details").textContent = details;
  document.title = `${title} – Gallery`;
  link("previous").href = pictures.at(index - 1).viewer;
  link("next").href = pictures[(index + 1) % pictures.length].viewer;
  Object.assign(link("download"), { href: iiif + "/full/max/0/default.jpg", download: title + ".jpg" });
  history.replaceState(null, "", viewer);
  // The next one is most likely wanted next.
  new Image().src = pictures[(index + 1) % pictures.length].screen;
}

function leave() {
  if (document.referrer === location.origin + "/" && history.length > 1) history.back();
  else location.assign("/");
}

function fillScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
}

const fill = document.getElementById("fill");
fill.hidden = !document.fullscreenEnabled;
fill.addEventListener("click", fillScreen);
document.getElementById("in").addEventListener("click", () => glide(2));
out.addEventListener("click", () => glide(0.5));
whole.addEventListener("click", () => info && turn());
for (const [id, by] of [["previous", -1], ["next", 1]])
  document.getElementById(id).addEventListener("click", (event) => {
    if (!pictures.length || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    step(by);
  });
document.getElementById("back").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  leave();
});

const placeOf = (event) => [event.clientX, event.clientY - stage.getBoundingClientRect().top];
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  stop();
  // A pinch on a touchpad comes as small steps with Control.
  const lines = event.deltaMode === 1 ? 40 : 1;
  zoomBy(2 ** (-clamp(event.deltaY * lines, -240, 240) / (event.ctrlKey ? 60 : 300)), ...placeOf(event));
}, { passive: false });

// One pointer moves the picture, two also zoom it. A swipe over a whole picture leads to the next.
const pointers = new Map();
let swipe = null;
stage.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  stop();
  stage.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, placeOf(event));
  swipe = info && pointers.size === 1 && event.pointerType === "touch" && isWhole() ? placeOf(event) : null;
});
stage.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before || !info) return;
  const now = placeOf(event), other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  pointers.set(event.pointerId, now);
  if (!other) return pan(now[0] - before[0], now[1] - before[1]);
  const distance = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
  const middle = [0, 1].map((axis) => (now[axis] + other[axis]) / 2);
  left -= (now[0] - before[0]) / 2 / zoom;
  top_ -= (now[1] - before[1]) / 2 / zoom;
  zoomBy(distance(now, other) / distance(before, other), ...middle);
});
for (const kind of ["pointerup", "pointercancel"])
  stage.addEventListener(kind, (event) => {
    pointers.delete(event.pointerId);
    if (!swipe || kind === "pointercancel" || pointers.size) return;
    const [x, y] = placeOf(event).map((value, axis) => value - swipe[axis]);
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) step(x < 0 ? 1 : -1);
  });
stage.addEventListener("dblclick", (event) => info && turn(...placeOf(event)));

const keys = {
  "+": () => glide(2), "=": () => glide(2), "-": () => glide(0.5), 0: () => info && glide(fit() / (glide.target ?? zoom)),
  1: () => info && glide(1 / (glide.target ?? zoom)), f: () => fill.hidden || fillScreen(), Escape: leave,
  PageUp: () => step(-1), "[": () => step(-1), PageDown: () => step(1), "]": () => step(1),
  // A whole picture can't move sideways, so the arrows change it.
  ArrowLeft: () => info && (isWhole() ? step(-1) : pan(100, 0)), ArrowRight: () => info && (isWhole() ? step(1) : pan(-100, 0)),
  ArrowUp: () => info && pan(0, 100), ArrowDown: () => info && pan(0, -100),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow")) stop();
  keys[event.key]();
});

// A picture that was whole stays whole in a window of another size.
new ResizeObserver(() => {
  if (draw.wasWhole) zoom = 0;
  draw();
}).observe(stage);

show(picture);
fetch("/pictures.json").then((response) => response.json()).then((list) => { pictures = list; }).catch(() => {});
