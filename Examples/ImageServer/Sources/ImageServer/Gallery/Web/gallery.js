"use strict";
// The grid works without this. The script draws placeholders, filters, and gives up requests that are no longer wanted.

// Draws a ThumbHash: a few cosines of lightness, of two colour differences and of alpha, each as half a byte.
function drawHash(bytes, canvas) {
  const first = bytes[0] | bytes[1] << 8 | bytes[2] << 16, second = bytes[3] | bytes[4] << 8;
  const isTransparent = first >> 23, isLandscape = second >> 15;
  const longer = isTransparent ? 5 : 7, shorter = second & 7;
  let half = isTransparent ? 12 : 10;
  const next = () => { const byte = bytes[half >> 1]; return half++ & 1 ? byte >> 4 : byte & 15; };
  const plane = (across, down, mean, scale) => {
    const waves = [];
    for (let row = 0; row < down; row++)
      for (let column = row ? 0 : 1; column * down < across * (down - row); column++)
        waves.push([column, row, (next() / 7.5 - 1) * scale * 2]);
    return (x, y) => waves.reduce((sum, [column, row, size]) => sum + size * Math.cos(Math.PI * column * x) * Math.cos(Math.PI * row * y), mean);
  };
  const light = plane(Math.max(3, isLandscape ? longer : shorter), Math.max(3, isLandscape ? shorter : longer), (first & 63) / 63, (first >> 18 & 31) / 31);
  const yellowBlue = plane(3, 3, (first >> 6 & 63) / 31.5 - 1, (second >> 3 & 63) / 63 * 1.25);
  const redGreen = plane(3, 3, (first >> 12 & 63) / 31.5 - 1, (second >> 9 & 63) / 63 * 1.25);
  const [width, height] = [canvas.width, canvas.height];
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  // The hash is of the whole picture, the cell shows its middle: alpha is left out, since it hardly shows in a placeholder.
  for (let y = 0, index = 0; y < height; y++)
    for (let x = 0; x < width; x++, index += 4) {
      const [across, down] = [(x + 0.5) / width, (y + 0.5) / height];
      const l = light(across, down), p = yellowBlue(across, down), q = redGreen(across, down);
      const blue = l - 2 / 3 * p, red = (3 * l - blue + q) / 2;
      pixels.data.set([255 * red, 255 * (red - q), 255 * blue, 255], index);
    }
  context.putImageData(pixels, 0, 0);
}

const cells = [...document.querySelectorAll(".grid a")];

function addPlaceholder(cell) {
  if (!cell.dataset.hash || cell.querySelector("canvas")) return;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [16, 12];
  canvas.setAttribute("aria-hidden", "true");
  drawHash(Uint8Array.from(atob(cell.dataset.hash), (c) => c.charCodeAt(0)), canvas);
  cell.prepend(canvas);
}

for (const cell of cells) {
  const image = cell.querySelector("img");
  image.addEventListener("error", () => {
    if (!image.getAttribute("src")) return;
    cell.classList.add("failed");
    cell.dataset.failure = image.alt + " can't be loaded now";
  });
  image.addEventListener("load", () => cell.classList.remove("failed"));
  if (image.complete && image.getAttribute("src") && !image.naturalWidth) image.dispatchEvent(new Event("error"));
}

// Those of the first screen are painted with the page, the others when there is time.
const first = 24, later = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
cells.slice(0, first).forEach(addPlaceholder);
if (cells.some((cell) => cell.dataset.hash)) performance.mark("placeholders");
later(() => cells.slice(first).forEach(addPlaceholder));

// Asks for the placeholders and sizes that the server didn't know yet when it sent the page.
async function askForMissing(wait = 150) {
  const missing = cells.filter((cell) => !cell.dataset.hash);
  if (!missing.length || wait > 10_000) return;
  await new Promise((resolve) => setTimeout(resolve, wait));
  const response = await fetch("/pictures.json").catch(() => null);
  const pictures = new Map(response?.ok ? (await response.json()).map((picture) => [picture.name, picture]) : []);
  for (const cell of missing) {
    const picture = pictures.get(cell.dataset.name);
    if (!picture?.hash) continue;
    cell.dataset.hash = picture.hash;
    cell.querySelector(".details").textContent = picture.details;
    addPlaceholder(cell);
  }
  askForMissing(wait * 1.5);
}
askForMissing();

const filter = document.getElementById("filter"), count = document.getElementById("count");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  let shown = 0;
  for (const cell of cells) {
    const text = cell.textContent.toLowerCase();
    cell.parentElement.hidden = !words.every((word) => text.includes(word));
    shown += !cell.parentElement.hidden;
  }
  count.textContent = shown === cells.length ? `${shown} pictures` : `${shown} of ${cells.length} pictures`;
  document.getElementById("none").hidden = shown > 0;
});
// Two screens away a request that hasn't ended is given up: the server then stops the work. It is sent again on the way back.
let givenUp = 0;
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const image = entry.target.querySelector("img");
    if (entry.isIntersecting && image.dataset.src) {
      image.srcset = image.dataset.srcset;
      image.src = image.dataset.src;
      delete image.dataset.src;
    } else if (!entry.isIntersecting && !image.complete && !image.dataset.src && image.getAttribute("src")) {
      image.dataset.src = image.getAttribute("src");
      image.dataset.srcset = image.srcset;
      image.removeAttribute("srcset");
      image.removeAttribute("src");
      document.documentElement.dataset.givenUp = ++givenUp;
    }
  }
}, { rootMargin: "200% 0px" });
for (const cell of cells) observer.observe(cell);
