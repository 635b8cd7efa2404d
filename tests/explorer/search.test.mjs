import assert from "node:assert/strict";
import { test } from "node:test";
import { Search } from "../../lineage_post/explorer/page/src/search.js";

/** What the search needs of a graph: models as [id, label, columns]. */
function graphOf(models) {
  const names = [...new Set(models.flatMap(([, , columns]) => columns))].sort(), at = new Map(names.map((name, i) => [name, i])), columns = models.flatMap(([, , own], n) => own.map((name) => [n, at.get(name)]));
  return { ids: models.map(([id]) => id), labels: models.map(([, label]) => label), names, columnCount: columns.length, owner: columns.map(([n]) => n), nameOf: columns.map(([, i]) => i) };
}

/** The same answer by its definition: all that has the words is ranked and sorted. */
function byDefinition(graph, text, limit) {
  const words = text.toLowerCase().trim().split(/[\s.]+/).filter(Boolean), last = words.at(-1), whole = words.join("."), low = (s) => s.toLowerCase();
  if (!words.length) return { total: 0, items: [] };
  const inAll = (n, of) => words.every((word) => of(n).some((s) => low(s).includes(word)));
  const rankOf = (label, n) => (label === whole ? 0 : label.startsWith(words[0]) ? 1 : inAll(n, (k) => [graph.labels[k]]) ? 2 : 3);
  const nodes = graph.ids.map((_, node) => ({ node, rank: rankOf(low(graph.labels[node]), node), size: low(graph.labels[node]).length }))
    .filter(({ node, rank }) => inAll(node, (n) => [graph.labels[n], graph.ids[n]]) && (rank < 3 || words.length === 1))
    .sort((a, b) => a.rank - b.rank || a.size - b.size || a.node - b.node);
  const columns = graph.owner.map((owner, column) => ({ owner, column, i: graph.nameOf[column], name: low(graph.names[graph.nameOf[column]]) }))
    .filter(({ owner, name }) => name.includes(last) && words.slice(0, -1).every((word) => name.includes(word) || low(graph.labels[owner]).includes(word)))
    .map((c) => ({ ...c, rank: c.name === last ? 0 : c.name.startsWith(last) ? 1 : 2 })).sort((a, b) => a.rank - b.rank || a.i - b.i || a.column - b.column);
  const first = columns.slice(0, limit).map(({ column }) => ({ column })), few = nodes.slice(0, Math.max(limit / 2, limit - first.length)).map(({ node }) => ({ node }));
  return { total: nodes.length + columns.length, items: [...few, ...first].slice(0, limit) };
}

/** Numbers that look random and are the same each time. */
function dice(seed) {
  let state = seed;
  return (n) => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % n; };
}

const PARTS = ["a", "b", "ab", "Id", "_", "order", "a\nb", "İ", "ΣΑΣ", "\u202e", "x y", "é", "😀", "1"];
const made = (roll, most) => Array.from({ length: 1 + roll(most) }, () => PARTS[roll(PARTS.length)]).join("");

test("what is found, in which order and how much of it is as the definition says, at each keystroke", () => {
  for (let seed = 1; seed <= 15; seed++) {
    const roll = dice(seed);
    const graph = graphOf(Array.from({ length: 1 + roll(12) }, (_, n) => [`model.p.${n}_${made(roll, 3)}`, made(roll, 3), [...new Set(Array.from({ length: roll(9) }, () => made(roll, 3)))]]));
    const search = new Search(graph);
    for (let k = 0; k < 12; k++) {
      const text = Array.from({ length: 1 + roll(3) }, () => made(roll, 2)).join([" ", ".", "  "][roll(3)]);
      for (let end = 0; end <= text.length; end++) for (const limit of [1, 4, 60]) {
        const typed = text.slice(0, end);
        assert.deepEqual(search.find(typed, limit), byDefinition(graph, typed, limit), `${JSON.stringify(typed)} of ${JSON.stringify(graph)}`);
      }
    }
  }
});

test("typing on, going back and pasting give the same answer for the same text", () => {
  const graph = graphOf([["model.p.orders", "orders", ["amount", "am", "name"]], ["model.p.am", "am", ["id"]]]), search = new Search(graph);
  const fresh = (text) => new Search(graph).find(text);
  for (const text of ["a", "am", "amo", "am", "a", "", "id", "orders.am", "am"]) assert.deepEqual(search.find(text), fresh(text), text);
});

test("100,000 columns are all counted, and only as many kept as are shown", () => {
  const graph = graphOf(Array.from({ length: 1000 }, (_, n) => [`model.p.m_${n}`, `m_${n}`, Array.from({ length: 100 }, (_, i) => `c_${(n * 100 + i) % 40000}`)]));
  const found = new Search(graph).find("c_", 40);
  assert.equal(found.total, 100_000);
  assert.equal(found.items.length, 40);
  assert.deepEqual(new Search(graph).find("m_7.c_70", 40).items[0], { column: 700 });
});
