// Layers from left to right: ranks by longest path, order by barycentre, places by isotonic means.
// Pure: the same input gives the same places. Cycles are opened, self edges ignored.
export const WIDE_GAP_X = 150;
const GAP_X = 66, GAP_Y = 22, SWEEPS = 10;

/**
 * ids in a stable order, edges as [from, to]; width of every box, height(id) of each,
 * wide: edges that have something standing on them, and need room before their end.
 * Returns {places: Map id -> {x, y, rank}, width, height, back: edges that run against the flow}.
 */
export function layout(ids, edges, { width, height, wide = [] }) {
  const { forward, back } = openCycles(ids, edges);
  const into = new Map(ids.map((id) => [id, []])), out = new Map(ids.map((id) => [id, []]));
  for (const [a, b] of forward) { out.get(a).push(b); into.get(b).push(a); }
  const rank = ranks(ids, into, out);
  const layers = inLayers(ids, rank);
  order(layers, into, out);
  const y = heights(layers, into, out, height);
  return { ...placed(ids, rank, y, lefts(rank, wide, width), { width, height }), back };
}

/** Edges without those that close a cycle, found depth first in the order of the ids. */
export function openCycles(ids, edges) {
  const next = new Map(ids.map((id) => [id, []])), state = new Map(), forward = [], back = [];
  const seen = new Set();
  for (const [a, b] of edges) {
    if (a === b || !next.has(a) || !next.has(b) || seen.has(`${a} ${b}`)) continue;
    seen.add(`${a} ${b}`);
    next.get(a).push(b);
  }
  const hasParent = new Set([...next.values()].flat());
  for (const root of [...ids.filter((id) => !hasParent.has(id)), ...ids]) {
    if (state.has(root)) continue;
    const stack = [[root, 0]];
    state.set(root, 1);
    while (stack.length) {
      const top = stack[stack.length - 1], list = next.get(top[0]);
      if (top[1] === list.length) { state.set(top[0], 2); stack.pop(); continue; }
      const other = list[top[1]++];
      if (state.get(other) === 1) { back.push([top[0], other]); continue; }
      forward.push([top[0], other]);
      if (!state.has(other)) { state.set(other, 1); stack.push([other, 0]); }
    }
  }
  return { forward, back };
}

function ranks(ids, into, out) {
  const rank = new Map(), waiting = new Map(ids.map((id) => [id, into.get(id).length]));
  let level = ids.filter((id) => !waiting.get(id));
  level.forEach((id) => rank.set(id, 0));
  while (level.length) {
    const following = [];
    for (const id of level) for (const other of out.get(id)) {
      rank.set(other, Math.max(rank.get(other) ?? 0, rank.get(id) + 1));
      waiting.set(other, waiting.get(other) - 1);
      if (!waiting.get(other)) following.push(other);
    }
    level = following;
  }
  // What has no parent stands right before its first reader, not at the far left.
  for (const id of ids) if (!into.get(id).length && out.get(id).length) rank.set(id, Math.min(...out.get(id).map((o) => rank.get(o))) - 1);
  return rank;
}

function inLayers(ids, rank) {
  const byRank = new Map();
  for (const id of ids) byRank.set(rank.get(id), [...(byRank.get(rank.get(id)) ?? []), id]);
  return [...byRank.keys()].sort((a, b) => a - b).map((r) => byRank.get(r));
}

function order(layers, into, out) {
  const at = new Map();
  const note = (layer) => layer.forEach((id, i) => at.set(id, (i + 0.5) / layer.length));
  layers.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const layer of isForward ? layers : [...layers].reverse()) {
      const key = new Map(layer.map((id) => [id, mean((isForward ? into : out).get(id).map((o) => at.get(o)), at.get(id))]));
      layer.sort((a, b) => key.get(a) - key.get(b));
      note(layer);
    }
  }
}

function heights(layers, into, out, height) {
  const y = new Map();
  for (const layer of layers) {
    let top = -layer.reduce((sum, id) => sum + height(id) + GAP_Y, 0) / 2;
    for (const id of layer) { y.set(id, top); top += height(id) + GAP_Y; }
  }
  for (let sweep = 0; sweep < 8; sweep++) {
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = layer.map((id) => mean([...into.get(id), ...out.get(id)].map((o) => y.get(o) + height(o) / 2), y.get(id) + height(id) / 2) - height(id) / 2);
      spreadOut(layer, wanted, height, y);
    }
  }
  return y;
}

/** The places nearest to the wanted ones that keep order and gaps: pool adjacent violators. */
function spreadOut(layer, wanted, height, y) {
  const blocks = [];
  layer.forEach((id, i) => {
    let block = { ids: [id], size: height(id) + GAP_Y, sum: wanted[i], count: 1, at: wanted[i] };
    while (blocks.length && blocks[blocks.length - 1].at + blocks[blocks.length - 1].size > block.at) {
      const before = blocks.pop(), sum = before.sum + block.sum - before.size * block.count;
      const count = before.count + block.count;
      block = { ids: [...before.ids, ...block.ids], size: before.size + block.size, sum, count, at: sum / count };
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    let top = block.at;
    for (const id of block.ids) { y.set(id, top); top += height(id) + GAP_Y; }
  }
}

/** The left side of each layer, by its rank. */
function lefts(rank, wide, width) {
  const all = [...new Set(rank.values())].sort((a, b) => a - b), needRoom = new Set(wide.map(([, b]) => rank.get(b))), found = new Map();
  let x = 0;
  for (const [i, r] of all.entries()) {
    if (i) x += width + (needRoom.has(r) ? WIDE_GAP_X : GAP_X);
    found.set(r, x);
  }
  return found;
}

function placed(ids, rank, y, x, { width, height }) {
  const places = new Map(), top = Math.min(...y.values()), left = Math.min(...rank.values());
  let right = 0, bottom = 0;
  for (const id of ids) {
    const place = { x: x.get(rank.get(id)), y: Math.round(y.get(id) - top), rank: rank.get(id) - left };
    places.set(id, place);
    right = Math.max(right, place.x + width);
    bottom = Math.max(bottom, place.y + height(id));
  }
  return { places, width: right, height: bottom };
}

function mean(values, otherwise) {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : otherwise;
}
