// The numbers of the core file, as arrays to walk on. Nodes and columns are numbers everywhere.
export const MASKED = 16, ASSUMED = 32, COMMAND = 64, STALE = 128, CLAIMED = 256;
export const MATERIAL = 1, OUTPUT = 2, RESTRICTED = 4, ERROR_CYCLE = 8, FEEDBACK = 16;
export const KINDS = ["source", "derived", "command", "native", "consumer"];
export const STATES = ["known", "partial", "unknown"];
/** Of a table edge: columns flow, no columns flow, not available. */
export const FLOWS = 0, NO_COLUMNS = 1, NOT_AVAILABLE = 2;
/** What a page leaves out on purpose is no gap in what is known. */
const OUTSIDE = new Set(["not_selected", "excluded"]);
export const kindOf = (code) => code & 15;
export const isValue = (code) => (code & 15) < 3;

export function unpackEdges([steps, back, codes]) {
  const size = codes.length, to = new Int32Array(size), from = new Int32Array(size);
  let target = 0;
  for (let i = 0; i < size; i++) {
    target += steps[i];
    to[i] = target;
    from[i] = target - back[i];
  }
  return { to, from, code: Uint16Array.from(codes), size };
}

/** Edges by one of their ends: those of `key` k stand from first[k] to first[k + 1]. */
function adjacency(size, key, other, code, count) {
  const first = new Int32Array(size + 1);
  for (let i = 0; i < count; i++) first[key[i] + 1]++;
  for (let k = 0; k < size; k++) first[k + 1] += first[k];
  const next = first.slice(), ends = new Int32Array(count), codes = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const at = next[key[i]]++;
    ends[at] = other[i];
    codes[at] = code[i];
  }
  return { first, ends, codes };
}

export function each(side, key, visit) {
  for (let i = side.first[key]; i < side.first[key + 1]; i++) visit(side.ends[i], side.codes[i]);
}

export class Graph {
  constructor(core) {
    this.core = core;
    this.ids = core.ids;
    const nodes = (this.nodeCount = core.ids.length), columns = (this.columnCount = core.columns.length);
    this.labels = core.ids.map((id, n) => core.labels[n] || id.slice(id.lastIndexOf(".") + 1));
    this.kinds = Uint8Array.from(core.kinds, (c) => c.charCodeAt(0) - 48);
    this.marks = core.marks;
    this.first = new Int32Array(nodes + 1);
    this.owner = new Int32Array(columns);
    for (let n = 0; n < nodes; n++) {
      this.first[n + 1] = this.first[n] + core.counts[n];
      this.owner.fill(n, this.first[n], this.first[n + 1]);
    }
    this.names = core.names;
    this.nameOf = Int32Array.from(core.columns);
    this.gaps = new Map(core.gaps);
    this.number = new Map(core.ids.map((id, n) => [id, n]));
    this.addEdges(unpackEdges(core.edges), core.claims ?? []);
    this.reads = core.tables.map((list) => list.map((v) => [Math.floor(v / 3), v % 3]));
    this.readers = Array.from({ length: nodes }, () => []);
    this.reads.forEach((list, n) => list.forEach(([parent, flow]) => this.readers[parent].push([n, flow])));
    this.cycles = core.cycles;
    this.through = new Map();
    for (const [t, s, command] of core.through ?? []) {
      const key = t * this.columnCount + s;
      this.through.set(key, [...(this.through.get(key) ?? []), command]);
    }
    this.indirect = null;
  }

  /** Own edges, then those that other producers alone assert; who asserts what is kept aside. */
  addEdges(own, claims) {
    this.producers = new Map();
    if (!claims.length) return this.index(own);
    const known = new Set();
    for (let i = 0; i < own.size; i++) known.add(own.to[i] * this.columnCount + own.from[i]);
    const to = [...own.to], from = [...own.from], code = [...own.code];
    for (const [t, s, c, producer, stale, seen] of claims) {
      const key = t * this.columnCount + s, list = this.producers.get(key) ?? [];
      list.push({ name: this.core.producers[producer], stale, seen });
      this.producers.set(key, list);
      if (known.has(key) || !isValue(c)) continue;
      known.add(key);
      to.push(t);
      from.push(s);
      code.push(c | CLAIMED | (stale ? STALE : 0));
    }
    return this.index({ to, from, code, size: to.length });
  }

  index({ to, from, code, size }) {
    this.edgeCount = size;
    this.up = adjacency(this.columnCount, to, from, code, size);
    this.down = adjacency(this.columnCount, from, to, code, size);
  }

  addIndirect({ edges, rows }) {
    const e = unpackEdges(edges), r = unpackEdges(rows);
    this.indirect = {
      up: adjacency(this.columnCount, e.to, e.from, e.code, e.size),
      down: adjacency(this.columnCount, e.from, e.to, e.code, e.size),
      rows: adjacency(this.nodeCount, r.to, r.from, r.code, r.size),
      decides: adjacency(this.columnCount, r.from, r.to, r.code, r.size),
    };
  }

  column(c) { return this.names[this.nameOf[c]]; }
  columnsOf(n) { return this.first[n + 1] - this.first[n]; }
  /** The names of the commands that the values of an edge pass. */
  commands(from, to) { return (this.through.get(to * this.columnCount + from) ?? []).map((i) => this.core.commands[i][0]); }
  claims(from, to) { return this.producers.get(to * this.columnCount + from) ?? []; }

  state(packed) {
    const reason = packed >= 10 ? this.core.reasons[Math.floor(packed / 10) - 1] : null;
    const state = STATES[packed % 10], isOutside = OUTSIDE.has(reason?.[0]);
    return { state, reason: reason?.[0], why: reason?.[1], isOutside, said: isOutside ? reason[0].replace("_", " ") : state };
  }
  nodeState(n) { return this.state(this.core.states[n]); }
  columnState(c) { return this.state(this.gaps.get(c) ?? 0); }

  /** The column of a node by name: exact, else the only one that differs in case alone. */
  find(n, name) {
    const found = [];
    for (let c = this.first[n]; c < this.first[n + 1]; c++) {
      if (this.column(c) === name) return c;
      if (this.column(c).toLowerCase() === name.toLowerCase()) found.push(c);
    }
    return found.length === 1 ? found[0] : undefined;
  }
}
