// Search over distinct names: a project of 100,000 columns has a few thousand of them.
export class Search {
  constructor(graph) {
    this.graph = graph;
    this.labels = graph.labels.map((s) => s.toLowerCase());
    this.ids = graph.ids.map((s) => s.toLowerCase());
    this.names = graph.names.map((s) => s.toLowerCase());
    this.every = this.names.map((_, i) => i);
    this.found = null;
    const first = (this.first = new Int32Array(this.names.length + 1));
    for (const name of graph.nameOf) first[name + 1]++;
    for (let i = 0; i < this.names.length; i++) first[i + 1] += first[i];
    const next = first.slice();
    this.places = new Int32Array(graph.columnCount);
    for (let c = 0; c < graph.columnCount; c++) this.places[next[graph.nameOf[c]]++] = c;
  }

  /** Models and columns that have all words of the text, the best first, and how many there are. */
  find(text, limit = 60) {
    const words = text.toLowerCase().trim().split(/[\s.]+/).filter(Boolean);
    if (!words.length) return { total: 0, items: [] };
    const nodes = this.nodes(words), columns = this.columns(words, limit);
    const few = nodes.items.slice(0, Math.max(limit / 2, limit - columns.items.length));
    return { total: nodes.total + columns.total, items: [...few, ...columns.items].slice(0, limit) };
  }

  nodes(words) {
    const ranked = [];
    const whole = words.join(".");
    this.labels.forEach((label, n) => {
      if (!words.every((word) => label.includes(word) || this.ids[n].includes(word))) return;
      const rank = label === whole ? 0 : label.startsWith(words[0]) ? 1 : words.every((w) => label.includes(w)) ? 2 : 3;
      if (rank < 3 || words.length === 1) ranked.push([rank, label.length, n]);
    });
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return { total: ranked.length, items: ranked.map(([, , node]) => ({ node })) };
  }

  /** The last word is of the column; those before of the column or its model. */
  columns(words, limit) {
    const last = words[words.length - 1], before = words.slice(0, -1), byRank = [[], [], []], kept = [];
    // Who types on looks among what was found before.
    const among = this.found && last.startsWith(this.found.last) ? this.found.names : this.every;
    for (const i of among) {
      const at = this.names[i].indexOf(last);
      if (at < 0) continue;
      kept.push(i);
      byRank[at > 0 ? 2 : this.names[i].length > last.length ? 1 : 0].push(i);
    }
    this.found = { last, names: kept };
    const items = [];
    let total = 0;
    // Each name and each model is looked at once, not once a column.
    const inLabel = before.map((word) => Uint8Array.from(this.labels, (label) => (label.includes(word) ? 1 : 0)));
    for (const list of byRank) for (const i of list) {
      let open = null;
      for (let w = 0; w < before.length; w++) if (!this.names[i].includes(before[w])) open = open ? open.map((has, n) => has & inLabel[w][n]) : inLabel[w];
      if (!open) total += this.first[i + 1] - this.first[i];
      for (let at = this.first[i]; at < this.first[i + 1]; at++) {
        if (!open && items.length >= limit) break;
        const c = this.places[at];
        if (open && !open[this.graph.owner[c]]) continue;
        if (open) total++;
        if (items.length < limit) items.push({ column: c });
      }
    }
    return { total, items };
  }
}
