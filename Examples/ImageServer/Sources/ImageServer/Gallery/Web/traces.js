"use strict";
// Asks once a second for the requests since the last one.
const rows = document.getElementById("rows");
let last = 0;

function row(request) {
  const line = document.createElement("tr");
  const leaves = request.stages.filter((stage, index) => !(request.stages[index + 1]?.depth > stage.depth));
  const texts = [request.number, request.name, request.status, request.source, request.ms.toFixed(2),
    leaves.filter((stage) => stage.ms >= 0.01).map((stage) => `${stage.stage} ${stage.outcome} ${stage.ms.toFixed(2)}${stage.note ? ` (${stage.note})` : ""}`).join(", ")];
  texts.forEach((text, index) => {
    const cell = line.insertCell();
    cell.textContent = text;
    if (index === 0 || index === 4) cell.className = "number";
  });
  return line;
}

async function poll() {
  try {
    const response = await fetch(`/traces.json?after=${last}`);
    for (const request of await response.json()) {
      last = request.number;
      rows.prepend(row(request));
    }
    while (rows.rows.length > 200) rows.lastChild.remove();
  } finally {
    setTimeout(poll, 1000);
  }
}
poll();
