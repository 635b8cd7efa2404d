// What is shown around a focus: tables at their distance, the columns of them that take part, and
// what was left out. No more than MOST_TABLES tables, MOST_HOPS hops and MOST_COLUMNS columns.
import { each, kindOf, KINDS, NOT_AVAILABLE } from "./graph.js";

export const MOST_TABLES = 500, MOST_HOPS = 5, MOST_COLUMNS = 20000;
const NATIVE = KINDS.indexOf("native");

/**
 * focus: {node, column?}; direction: up, down, both; kinds: the indirect subtypes that count;
 * expanded: ["node:up", ...], from which one more hop is gone.
 */
export function walk(graph, focus, { direction = "both", depth = 1, kinds = new Set(), expanded = [] } = {}) {
  const roots = focus.column !== undefined ? [focus.column] : range(graph.first[focus.node], graph.first[focus.node + 1]);
  const view = { graph, focus, kinds, tables: new Map([[focus.node, 0]]), columns: new Map(roots.map((c) => [c, 0])), leftOut: new Set(), cutColumns: false, hops: depth };
  for (const way of ["up", "down"]) {
    if (direction === "both" || direction === way) spread(view, roots, [focus.node], way, 0, Math.min(depth, MOST_HOPS));
  }
  for (const key of expanded) {
    const [node, way] = key.split(":");
    const n = Number(node);
    if (!view.tables.has(n)) continue;
    const own = [...view.columns.keys()].filter((c) => graph.owner[c] === n);
    spread(view, own, [n], way, Math.abs(view.tables.get(n)), Math.abs(view.tables.get(n)) + 1);
  }
  return view;
}

/** The largest depth whose graph is still read at a glance: a few tables, a few layers. */
export function easyDepth(graph, focus, options, most = 22) {
  const hops = options.direction === "both" ? 2 : 3;
  let depth = 1, size = walk(graph, focus, { ...options, depth }).tables.size;
  while (depth < hops) {
    const next = walk(graph, focus, { ...options, depth: depth + 1 }).tables.size;
    if (next > most) break;
    depth++;
    if (next === size) break;
    size = next;
  }
  return depth;
}

function spread(view, columns, tables, way, from, depth) {
  const { graph } = view, sign = way === "up" ? -1 : 1;
  for (let hop = from + 1; hop <= depth; hop++) {
    const nextColumns = [], nextTables = [];
    const reach = (c) => { if (keep(view, graph.owner[c], sign * hop, nextTables) && add(view, c, sign * hop)) nextColumns.push(c); };
    for (const c of columns) step(view, c, way, reach, (n) => keep(view, n, sign * hop, nextTables));
    for (const n of tables) beside(view, n, way, (other) => keep(view, other, sign * hop, nextTables));
    if (view.kinds.size && way === "up" && graph.indirect) for (const n of tables) each(graph.indirect.rows, n, (c, code) => { if (view.kinds.has(kindOf(code))) reach(c); });
    if (!nextColumns.length && !nextTables.length) return;
    columns = nextColumns;
    tables = nextTables;
  }
}

function step(view, c, way, reach, reachRows) {
  const { graph, kinds } = view;
  each(way === "up" ? graph.up : graph.down, c, reach);
  if (!kinds.size || !graph.indirect) return;
  each(graph.indirect[way], c, (other, code) => { if (kinds.has(kindOf(code))) reach(other); });
  if (way === "down") each(graph.indirect.decides, c, (n, code) => { if (kinds.has(kindOf(code))) reachRows(n); });
}

/** Tables that belong in the picture though no column of them is known to take part. */
function beside(view, n, way, keepTable) {
  const { graph } = view, isNode = view.focus.column === undefined;
  for (const [other, flow] of way === "up" ? graph.reads[n] : graph.readers[n]) {
    const mayUse = flow === NOT_AVAILABLE && (way === "down" || hasGap(view, n));
    if (isNode || mayUse || graph.kinds[other] === NATIVE) keepTable(other);
  }
}

function hasGap(view, n) {
  for (const c of view.columns.keys()) if (view.graph.owner[c] === n && view.graph.gaps.has(c)) return true;
  return false;
}

function keep(view, n, distance, fresh) {
  if (view.tables.has(n)) return true;
  if (view.tables.size >= MOST_TABLES) { view.leftOut.add(n); return false; }
  view.tables.set(n, distance);
  fresh.push(n);
  return true;
}

function add(view, c, distance) {
  if (view.columns.has(c)) return false;
  if (view.columns.size >= MOST_COLUMNS) { view.cutColumns = true; return false; }
  view.columns.set(c, distance);
  return true;
}

function range(from, to) { return Array.from({ length: to - from }, (_, i) => from + i); }
