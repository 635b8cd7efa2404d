/** Texts in one string, without regard to case, so that a search is one pass of the browser's own. */
class Texts {
  constructor(texts) {
    const lower = texts.map((s) => s.toLowerCase());
    this.starts = new Int32Array(lower.length + 1);
    for (let i = 0; i < lower.length; i++) this.starts[i + 1] = this.starts[i] + lower[i].length + 1;
    this.all = lower.join("\n");
  }

  get size() { return this.starts.length - 1; }
  length(i) { return this.starts[i + 1] - this.starts[i] - 1; }
  startsWith(i, text) { return this.all.startsWith(text, this.starts[i]); }
  is(i, text) { return this.length(i) === text.length && this.startsWith(i, text); }

  /** Visits the texts with a word, which holds no white space, in order; tells where in each it is first. */
  each(word, visit) {
    const { all, starts } = this;
    for (let i = 0, at = all.indexOf(word); at >= 0; at = all.indexOf(word, starts[i])) {
      while (starts[i + 1] <= at) i++;
      visit(i, at - starts[i]);
      i++;
    }
  }

  /** One for each text that has the word, else zero. */
  having(word) {
    const has = new Uint8Array(this.size);
    this.each(word, (i) => { has[i] = 1; });
    return has;
  }
}

/** Counts what is found, and keeps as many of each rank as can be shown. */
class Best {
  constructor(ranks, limit) {
    this.total = 0;
    this.limit = limit;
    this.kept = Array.from({ length: ranks }, () => []);
  }

  add(rank, number) {
    this.total++;
    if (this.kept[rank].length < this.limit) this.kept[rank].push(number);
  }

  addAll(rank, numbers, from, to) {
    this.total += to - from;
    for (let i = from; i < to && this.kept[rank].length < this.limit; i++) this.kept[rank].push(numbers[i]);
  }

  get first() { return this.kept.flat().slice(0, this.limit); }
}

/** A keystroke sorts nothing: texts are in their order before it, and ranks are few. */
export class Search {
  constructor(graph) {
    this.owner = graph.owner;
    this.labels = new Texts(graph.labels);
    this.ids = new Texts(graph.ids);
    // Over distinct names: most of the columns of a project share theirs.
    this.names = new Texts(graph.names);
    this.shortFirst = graph.labels.map((_, n) => n).sort((a, b) => this.labels.length(a) - this.labels.length(b) || a - b);
    const first = (this.first = new Int32Array(this.names.size + 1));
    for (const name of graph.nameOf) first[name + 1]++;
    for (let i = 0; i < this.names.size; i++) first[i + 1] += first[i];
    const next = first.slice();
    this.places = new Int32Array(graph.columnCount);
    for (let c = 0; c < graph.columnCount; c++) this.places[next[graph.nameOf[c]]++] = c;
  }

  /** Models and columns that have all words of the text, the best first, and how many there are. */
  find(text, limit = 60) {
    const words = text.toLowerCase().trim().split(/[\s.]+/).filter(Boolean);
    if (!words.length) return { total: 0, items: [] };
    const inLabel = words.map((word) => this.labels.having(word));
    const nodes = this.nodes(words, inLabel, limit), columns = this.columns(words, inLabel, limit), found = columns.first;
    const few = nodes.first.slice(0, Math.max(limit / 2, limit - found.length));
    return { total: nodes.total + columns.total, items: [...few.map((node) => ({ node })), ...found.map((column) => ({ column }))].slice(0, limit) };
  }

  nodes(words, inLabel, limit) {
    const inId = words.map((word) => this.ids.having(word)), whole = words.join("."), best = new Best(4, limit);
    for (let k = 0; k < this.shortFirst.length; k++) {
      const n = this.shortFirst[k];
      let labelled = 0, found = 0;
      for (let w = 0; w < words.length; w++) {
        labelled += inLabel[w][n];
        found += inLabel[w][n] | inId[w][n];
      }
      if (found < words.length) continue;
      const rank = this.labels.startsWith(n, words[0]) ? (this.labels.is(n, whole) ? 0 : 1) : labelled === words.length ? 2 : 3;
      if (rank < 3 || words.length === 1) best.add(rank, n);
    }
    return best;
  }

  /** The last word is of the column; those before of the column or its model. */
  columns(words, inLabel, limit) {
    const { first, places, owner, names } = this, best = new Best(3, limit);
    const last = words[words.length - 1], inName = words.slice(0, -1).map((word) => names.having(word));
    names.each(last, (i, at) => {
      const rank = at > 0 ? 2 : names.length(i) > last.length ? 1 : 0;
      if (inName.every((has) => has[i])) return best.addAll(rank, places, first[i], first[i + 1]);
      for (let p = first[i]; p < first[i + 1]; p++) {
        let w = 0;
        while (w < inName.length && (inName[w][i] || inLabel[w][owner[places[p]]])) w++;
        if (w === inName.length) best.add(rank, places[p]);
      }
    });
    return best;
  }
}
