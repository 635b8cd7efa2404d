// From a walk to what is drawn: cards with their rows, and edges between the places on them.
import { leadThrough, nameCommands } from "./commands.js";
import { COMMAND, each, FLOWS, isValue, kindOf, NO_COLUMNS, STALE } from "./graph.js";
import { layout } from "./layout.js";

export const WIDTH = 224, HEAD = 50, STRIP = 28, ROW = 25, PAD = 7;
/** Edges of several looks between the same two places stand so far apart. */
const APART = 5;
export const MOST_ROWS = 30;

/** open: Map node -> "none" | "some" | "all", what the viewer has said; else by `openAll`. */
export function scene(view, { open = new Map(), openAll = false } = {}) {
  const { graph, focus } = view;
  const drawn = [...view.tables.keys()].sort((a, b) => a - b);
  const cards = new Map(drawn.map((n) => [n, { node: n, columns: [], distance: view.tables.get(n) }]));
  for (const c of view.columns.keys()) cards.get(graph.owner[c])?.columns.push(c);
  for (const card of cards.values()) rowsOf(card, graph, open.get(card.node) ?? (openAll || (card.node === focus.node && focus.column !== undefined) ? "some" : "none"));
  const links = linksOf(view, cards);
  const pairs = new Map();
  for (const link of links) if (link.fromNode !== link.toNode) pairs.set(`${link.fromNode} ${link.toNode}`, [link.fromNode, link.toNode]);
  const made = layout(drawn, [...pairs.values()], { width: WIDTH, height: (n) => cards.get(n).height, wide: links.filter((l) => l.station).map((l) => [l.fromNode, l.toNode]) });
  for (const card of cards.values()) Object.assign(card, made.places.get(card.node), hidden(view, card, cards));
  return { view, cards, links: leadThrough(place(links, cards)), width: made.width, height: made.height };
}

function rowsOf(card, graph, how) {
  card.columns.sort((a, b) => a - b);
  card.isOpen = how !== "none" && card.columns.length > 0;
  card.rows = card.isOpen ? card.columns.slice(0, how === "all" ? undefined : MOST_ROWS) : [];
  card.more = card.isOpen ? card.columns.length - card.rows.length : 0;
  card.row = new Map(card.rows.map((c, i) => [c, i]));
  card.hasStrip = graph.core.kinds[card.node] !== "3";
  card.height = HEAD + (card.hasStrip ? STRIP : 0) + (card.rows.length + (card.more ? 1 : 0)) * ROW + (card.isOpen ? PAD : 0);
}

/** Edges, those between the same two places and of the same look as one. */
function linksOf(view, cards) {
  const { graph } = view, links = new Map(), joined = new Set();
  const add = (from, to, fromNode, toNode, style, member) => {
    const a = anchor(cards.get(fromNode), from), b = to === null ? "head" : anchor(cards.get(toNode), to);
    const key = `${fromNode}/${a}>${toNode}/${b}|${style}`;
    if (!links.has(key)) links.set(key, { key, fromNode, toNode, a, b, look: style, members: [] });
    links.get(key).members.push(member);
  };
  for (const t of view.columns.keys()) {
    const toNode = graph.owner[t];
    if (!cards.has(toNode)) continue;
    const into = (s, code) => {
      const fromNode = graph.owner[s];
      if (!view.columns.has(s) || !cards.has(fromNode)) return;
      joined.add(`${fromNode} ${toNode}`);
      add(s, t, fromNode, toNode, look(code), { from: s, to: t, code });
    };
    each(graph.up, t, into);
    if (view.kinds.size && graph.indirect) each(graph.indirect.up, t, (s, code) => { if (view.kinds.has(kindOf(code))) into(s, code); });
  }
  if (view.kinds.size && graph.indirect) for (const n of cards.keys()) {
    each(graph.indirect.rows, n, (s, code) => {
      if (!view.kinds.has(kindOf(code)) || !view.columns.has(s) || !cards.has(graph.owner[s])) return;
      joined.add(`${graph.owner[s]} ${n}`);
      add(s, null, graph.owner[s], n, look(code), { from: s, to: null, toNode: n, code });
    });
  }
  for (const n of cards.keys()) for (const [parent, flow] of graph.reads[n]) {
    if (!cards.has(parent) || joined.has(`${parent} ${n}`) || (parent === n && flow !== FLOWS)) continue;
    const bare = view.focus.column === undefined || !cards.get(parent).columns.length || !cards.get(n).columns.length;
    if (!bare) continue;
    const kind = graph.core.kinds[parent] === "3" ? "native" : flow === FLOWS ? "flow" : flow === NO_COLUMNS ? "none" : "unknown";
    if (parent !== n) add(null, null, parent, n, kind, { from: null, to: null, fromNode: parent, toNode: n, flow });
  }
  const found = [...links.values()];
  nameCommands(found, graph);
  return found;
}

function look(code) {
  if (code & STALE) return "stale";
  if (!isValue(code)) return "indirect";
  return code & COMMAND ? "command" : "value";
}

function anchor(card, c) {
  if (c === null) return "head";
  return card.row.has(c) ? card.row.get(c) : "strip";
}

function place(links, cards) {
  const beside = new Map();
  return links.map((link, index) => {
    const from = cards.get(link.fromNode), to = cards.get(link.toNode), ends = link.key.split("|")[0], n = beside.get(ends) ?? 0;
    beside.set(ends, n + 1);
    // 0, 5, -5, 10: the first stands in the middle.
    const off = (n % 2 ? 1 : -1) * Math.ceil(n / 2) * APART;
    const x1 = from.x + WIDTH, y1 = from.y + height(link.a, from) + off, x2 = to.x, y2 = to.y + height(link.b, to) + off;
    const below = Math.max(from.y + from.height, to.y + to.height), isBack = x2 <= x1, out = isBack ? 60 : 0;
    return {
      ...link, index, x1, y1, x2, y2, path: path(x1, y1, x2, y2, below),
      left: Math.min(x1, x2) - out, right: Math.max(x1, x2) + out, top: Math.min(y1, y2) - 8, bottom: (isBack ? Math.max(below + 26, y1, y2) : Math.max(y1, y2)) + 8,
    };
  });
}

function height(anchor_, card) {
  if (anchor_ === "head") return HEAD / 2;
  if (anchor_ === "strip") return card.hasStrip ? HEAD + STRIP / 2 : HEAD / 2;
  return HEAD + STRIP + ROW * (anchor_ + 0.5);
}

/** A curve to the right; what runs back goes around below both cards. */
export function path(x1, y1, x2, y2, below) {
  if (x2 > x1) {
    const bend = Math.max(36, (x2 - x1) / 2);
    return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  const under = below + 26;
  return `M${x1},${y1}C${x1 + 60},${y1} ${x1 + 60},${under} ${x1},${under}L${x2},${under}C${x2 - 60},${under} ${x2 - 60},${y2} ${x2},${y2}`;
}

/** How many tables on each side of a card are not in the picture. */
function hidden(view, card, cards) {
  const { graph } = view;
  const count = (list) => new Set(list.map(([n]) => n).filter((n) => n !== card.node && !cards.has(n))).size;
  if (view.focus.column === undefined) return { hiddenUp: count(graph.reads[card.node]), hiddenDown: count(graph.readers[card.node]) };
  const up = new Set(), down = new Set();
  for (const c of card.columns) {
    each(graph.up, c, (o) => { if (!cards.has(graph.owner[o])) up.add(graph.owner[o]); });
    each(graph.down, c, (o) => { if (!cards.has(graph.owner[o])) down.add(graph.owner[o]); });
  }
  return { hiddenUp: up.size, hiddenDown: down.size };
}

/** The columns that the values of one come from and go to, within a scene. */
export function trace(scene_, start) {
  const found = new Set([start]);
  scene_.flow ??= flowOf(scene_.links);
  const ways = scene_.flow.map((map) => {
    const seen = new Set([start]);
    const stack = [start];
    while (stack.length) for (const o of map.get(stack.pop()) ?? []) if (!seen.has(o)) { seen.add(o); found.add(o); stack.push(o); }
    return seen;
  });
  return { columns: found, has: (m) => ways.some((seen) => seen.has(m.from) && (m.to === null || seen.has(m.to))) };
}

/** Where the value of each column comes from, and where it goes. */
function flowOf(links) {
  const into = new Map(), out = new Map();
  const push = (map, key, value) => { if (map.has(key)) map.get(key).push(value); else map.set(key, [value]); };
  for (const link of links) for (const m of link.members) {
    if (m.from === null || m.to === null) continue;
    push(into, m.to, m.from);
    push(out, m.from, m.to);
  }
  return [into, out];
}
