// What is lit while the pointer is over a column or a card. It works on the elements that are drawn.
import { trace } from "./scene.js";
import { visible } from "./text.js";

export const lightColumn = (picture, c) => ({ traced: trace(picture, c) });
export const lightNode = (near) => ({ near });

/** Lights the elements in `world`; null puts everything back. */
export function light(world, graph, picture, lit) {
  world.classList.toggle("tracing", Boolean(lit));
  const nodes = new Set(lit?.near === undefined ? [] : [lit.near]), names = new Map();
  for (const element of world.querySelectorAll("[data-link]")) {
    const link = picture.links[element.dataset.link];
    const isOn = Boolean(lit && link && (lit.traced ? link.members.some(lit.traced.has) : link.fromNode === lit.near || link.toNode === lit.near));
    element.classList.toggle("on", isOn);
    if (isOn) nodes.add(link.fromNode).add(link.toNode);
  }
  for (const c of lit?.traced?.columns ?? []) {
    const n = graph.owner[c];
    nodes.add(n);
    if (!names.has(n)) names.set(n, []);
    names.get(n).push(visible(graph.column(c)));
  }
  for (const card of world.querySelectorAll(".card")) {
    const n = Number(card.dataset.node), through = card.querySelector(".through"), said = names.get(n);
    card.classList.toggle("on", nodes.has(n));
    if (through) through.textContent = said ? said.slice(0, 3).join(", ") + (said.length > 3 ? ` +${said.length - 3}` : "") : "";
  }
  for (const row of world.querySelectorAll(".row[data-column]")) row.classList.toggle("on", Boolean(lit?.traced?.columns.has(Number(row.dataset.column))));
}
