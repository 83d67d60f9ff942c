"use strict";
// Shows a picture by tiles of the IIIF Image API: those that are in sight, at the scale that fits the screen.
const stage = document.getElementById("stage"), state = document.getElementById("state");
const base = new URLSearchParams(location.search).get("iiif");
let info, zoom = 1, left = 0, top_ = 0;        // zoom: screen pixels for each pixel of the picture
const tiles = new Map();

function factorFor(zoom) {
  const wanted = 1 / (zoom * devicePixelRatio);
  return info.tiles[0].scaleFactors.filter((factor) => factor <= Math.max(1, wanted)).pop() ?? 1;
}

function draw() {
  const factor = factorFor(zoom), side = info.tiles[0].width * factor;
  const [width, height] = [stage.clientWidth / zoom, stage.clientHeight / zoom];
  const wanted = new Map();
  for (let y = Math.max(0, Math.floor(top_ / side)) * side; y < Math.min(info.height, top_ + height); y += side)
    for (let x = Math.max(0, Math.floor(left / side)) * side; x < Math.min(info.width, left + width); x += side) {
      const [w, h] = [Math.min(side, info.width - x), Math.min(side, info.height - y)];
      const size = Math.ceil(w / factor) + "," + Math.ceil(h / factor);
      const isWhole = w === info.width && h === info.height;
      wanted.set(`${isWhole ? "full" : [x, y, w, h]}/${factor === 1 ? "max" : size}/0/default.jpg`, [x, y, w, h]);
    }
  for (const [path, image] of tiles) if (!wanted.has(path)) { image.removeAttribute("src"); image.remove(); tiles.delete(path); }
  for (const [path, [x, y, w, h]] of wanted) {
    let image = tiles.get(path);
    if (!image) {
      image = new Image();
      image.alt = "";
      image.draggable = false;
      image.src = `${base}/${path}`;
      tiles.set(path, image);
      stage.append(image);
    }
    Object.assign(image.style, { left: (x - left) * zoom + "px", top: (y - top_) * zoom + "px", width: w * zoom + "px", height: h * zoom + "px" });
  }
  state.textContent = `${Math.round(zoom * 100)} % of ${info.width} × ${info.height}`;
}

function zoomBy(ratio, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const next = Math.min(8, Math.max(0.02, zoom * ratio));
  left += x / zoom - x / next;
  top_ += y / zoom - y / next;
  zoom = next;
  draw();
}

function showWhole() {
  zoom = Math.min(stage.clientWidth / info.width, stage.clientHeight / info.height);
  left = (info.width - stage.clientWidth / zoom) / 2;
  top_ = (info.height - stage.clientHeight / zoom) / 2;
  draw();
}

document.getElementById("in").addEventListener("click", () => zoomBy(2));
document.getElementById("out").addEventListener("click", () => zoomBy(0.5));
document.getElementById("whole").addEventListener("click", showWhole);
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoomBy(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
}, { passive: false });
stage.addEventListener("pointerdown", (event) => stage.setPointerCapture(event.pointerId));
stage.addEventListener("pointermove", (event) => {
  if (!event.buttons) return;
  left -= event.movementX / zoom;
  top_ -= event.movementY / zoom;
  draw();
});
stage.addEventListener("keydown", (event) => {
  const step = 100 / zoom;
  if (event.key === "+" || event.key === "=") zoomBy(2);
  else if (event.key === "-") zoomBy(0.5);
  else if (event.key === "0") showWhole();
  else if (event.key.startsWith("Arrow")) {
    left += { ArrowLeft: -step, ArrowRight: step }[event.key] ?? 0;
    top_ += { ArrowUp: -step, ArrowDown: step }[event.key] ?? 0;
    draw();
  } else return;
  event.preventDefault();
});
addEventListener("resize", () => info && draw());

// Only paths of this server: a link must not make the page show something else.
if (!base || !/^\/iiif\/[^\\]+$/.test(base)) state.textContent = "The address names no picture.";
else
  fetch(base + "/info.json").then((response) => response.ok ? response.json() : Promise.reject(response.status)).then((json) => {
    info = json;
    showWhole();
  }).catch((error) => { state.textContent = `The picture can't be loaded (${error}).`; });
