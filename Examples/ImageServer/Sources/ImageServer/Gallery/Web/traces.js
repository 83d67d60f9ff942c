"use strict";
// Asks once a second for the requests since the last one, and shows each as a bar with a piece for each stage.
const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const [rows, filter, pause, newer, legend, none] =
  ["rows", "filter", "pause", "newer", "legend", "none"].map((id) => document.getElementById(id));
const limit = 200, held = [];
let last = 0;

// The kinds of stages, each with its colour and the names of its stages.
const kinds = [
  ["wait", "Waiting", /admit|coalesce|askagain|delay|retry|lease|order|queue/i],
  ["look", "Looking in caches", /lookup|resolve|stale|results|kept|check|describe/i],
  ["fetch", "Reading", /fetch|read|redirect/i],
  ["decode", "Decoding", /decode|frame|header/i],
  ["encode", "Encoding", /encode/i],
  ["keep", "Storing", /store|memory|keep/i],
  ["change", "Changing", /resize|crop|downscale|rotate|turn|blur|sharpen|grey|mirror|flatten|extend|pad|bitonal|hash|size|scale/i],
];
const kindOf = (stage) => kinds.find(([, , names]) => names.test(stage)) ?? ["other", "Other"];
for (const [kind, label] of [...kinds, ["other", "Other"]]) legend.append(element("li", {}, element("span", { className: kind }), label));

const number = (ms) => ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : ms.toFixed(0);
const kilobytes = (bytes) => bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;

// The stages that have no others inside them and took time.
const leaves = (stages) => stages.filter((stage, index) => !(stages[index + 1]?.depth > stage.depth) && stage.ms >= 0.001);

function bar({ ms, stages }) {
  const shown = leaves(stages), sum = shown.reduce((sum, stage) => sum + stage.ms, 0);
  const length = Math.max(1, Math.min(100, (Math.log10(Math.max(ms, 0.01)) + 2) / 6 * 100));
  const made = element("span", { className: "bar" });
  made.setAttribute("aria-hidden", "true");
  for (const stage of shown) {
    const piece = element("i", { className: kindOf(stage.stage)[0], title: `${stage.stage}: ${number(stage.ms)} ms` });
    piece.style.width = stage.ms / sum * length + "%";
    made.append(piece);
  }
  return made;
}

function table(stages) {
  const head = element("tr", {}, ...["Stage", "ms", "Outcome", "Note"].map((text) => element("th", { scope: "col" }, text)));
  const lines = leaves(stages).map((stage) =>
    element("tr", {}, ...[stage.stage, number(stage.ms), stage.outcome, stage.note].map((text) => element("td", {}, text))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines));
}

function row(request) {
  const { name, status, source, width, height, type, bytes, ms } = request;
  const title = name.split("/").pop() || name;
  const asked = [width && `${width} × ${height}`, type?.replace("image/", "").toUpperCase().replace("WEBP", "WebP"), bytes && kilobytes(bytes)].filter(Boolean).join(" · ");
  const from = status === 200 ? element("span", { className: "from" }, source) : element("span", { className: "from failed" }, `${status}`);
  const summary = element("summary", {}, element("b", { title: name }, title),
    element("span", { className: "ms" }, `${number(ms)} ms`), element("span", { className: "asked" }, asked || "–"), from, bar(request));
  const made = element("li", { value: request.number }, element("details", {}, summary));
  // Few are opened, so each table is made then.
  made.firstChild.addEventListener("toggle", () => made.firstChild.children.length > 1 || made.firstChild.append(table(request.stages)));
  made.dataset.text = [name, asked, source, status].join(" ").toLowerCase();
  made.hidden = !matches(made);
  return made;
}

const matches = (row) => filter.value.toLowerCase().split(/\s+/).every((word) => row.dataset.text.includes(word));

// Whether somebody reads the rows, so that they have to stay where they are.
const isRead = () => pause.ariaPressed === "true" || rows.querySelector(":focus-visible") !== null || rows.querySelector("[open]") !== null
  || rows.matches(":hover") || rows.getBoundingClientRect().top < 0;

function showHeld() {
  rows.prepend(...held.splice(0).map(row).reverse());
  while (rows.children.length > limit) rows.lastChild.remove();
  none.hidden = rows.children.length > 0;
  update();
}

function update() {
  newer.hidden = !held.length;
  newer.textContent = `Show ${held.length} newer`;
}

async function poll() {
  try {
    const requests = await (await fetch(`/traces.json?after=${last}`)).json();
    last = requests.at(-1)?.number ?? last;
    held.push(...requests);
    held.splice(0, held.length - limit);
    if (held.length && !isRead()) showHeld();
    update();
  } finally {
    setTimeout(poll, 1000);
  }
}

filter.addEventListener("input", () => { for (const row of rows.children) row.hidden = !matches(row); });
pause.addEventListener("click", () => {
  pause.ariaPressed = String(pause.ariaPressed !== "true");
  pause.textContent = pause.ariaPressed === "true" ? "Continue" : "Pause";
  if (pause.ariaPressed === "false") showHeld();
});
newer.addEventListener("click", () => {
  showHeld();
  scrollTo({ top: 0 });
  rows.focus({ preventScroll: true });
});
poll();
