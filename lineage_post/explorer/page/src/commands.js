// A command stands as a node of its own before the table that it writes into: all edges of it pass there.
import { WIDE_GAP_X } from "./layout.js";

/** Names the commands that edges pass. Edges of one `station` pass through the same node. */
export function nameCommands(links, graph) {
  for (const link of links) {
    if (link.look !== "command") continue;
    link.commands = [...new Set(link.members.flatMap((m) => graph.commands(m.from, m.to)))];
    // A Python model is a command itself, and stands there as a card.
    if (link.commands.length && graph.core.kinds[link.toNode] !== "2") link.station = `${link.toNode} ${link.commands.join()}`;
  }
}

/** Leads the placed edges of each station through one place; the first of them bears the names. */
export function leadThrough(links) {
  const stations = new Map();
  for (const link of links) {
    if (!link.station) continue;
    // What runs back has its command on its own way.
    const key = link.x2 > link.x1 ? link.station : link.key;
    stations.set(key, [...(stations.get(key) ?? []), link]);
  }
  for (const [key, list] of stations) {
    const y = list.reduce((sum, l) => sum + (l.y1 + l.y2) / 2, 0) / list.length, [first] = list;
    const isBack = key === first.key, x = isBack ? (first.x1 + first.x2) / 2 : first.x2 - WIDE_GAP_X / 2;
    first.chip = { x, y: isBack ? first.bottom - 8 : y, names: first.commands };
    for (const link of isBack ? [] : list) {
      link.path = `M${link.x1},${link.y1}${curve(link.x1, link.y1, x, y)}${curve(x, y, link.x2, link.y2)}`;
      link.top = Math.min(link.top, y - 8);
      link.bottom = Math.max(link.bottom, y + 8);
    }
  }
  return links;
}

function curve(x1, y1, x2, y2) {
  const bend = (x2 - x1) / 2;
  return `C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
}
