import assert from "node:assert/strict";
import { test } from "node:test";
import { Graph } from "../../lineage_post/explorer/page/src/graph.js";
import { fromHash, toHash } from "../../lineage_post/explorer/page/src/place.js";
import { scene, trace } from "../../lineage_post/explorer/page/src/scene.js";
import { Search } from "../../lineage_post/explorer/page/src/search.js";
import { statementGraph } from "../../lineage_post/explorer/page/src/statement.js";
import { tokens } from "../../lineage_post/explorer/page/src/sql.js";
import { visible } from "../../lineage_post/explorer/page/src/text.js";
import { easyDepth, MOST_TABLES, walk } from "../../lineage_post/explorer/page/src/walk.js";

const SUBTYPES = ["identity", "transformation", "aggregation", "join", "filter", "group by", "sort", "window", "conditional"];

/** Tables with the columns named, and edges [from table, column, to table, column, code]. */
function graph(tables, edges, reads = [], more = {}) {
  const names = [...new Set(Object.values(tables).flat())], ids = Object.keys(tables), first = {};
  let count = 0;
  for (const id of ids) { first[id] = count; count += tables[id].length; }
  const at = (table, column) => first[table] + tables[table].indexOf(column);
  const packed = edges.map(([a, b, c, d, code = 0]) => [at(c, d), at(a, b), code]).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  const pairs = new Map();
  for (const [a, , c] of edges) pairs.set(`${a} ${c}`, [a, c, 0]);
  for (const [a, c, flow] of reads) pairs.set(`${a} ${c}`, [a, c, flow]);
  return new Graph({
    project: "test", ids, labels: ids.map(() => 0), kinds: ids.map(() => 1).join(""), marks: ids.map(() => 0), states: ids.map(() => 0),
    counts: ids.map((id) => tables[id].length), names, columns: ids.flatMap((id) => tables[id].map((c) => names.indexOf(c))), gaps: [],
    edges: [packed.map(([t], i) => t - (i ? packed[i - 1][0] : 0)), packed.map(([t, s]) => t - s), packed.map((e) => e[2])],
    tables: ids.map((id) => [...pairs.values()].filter(([, to]) => to === id).map(([from, , flow]) => 3 * ids.indexOf(from) + flow)),
    cycles: [], producers: ["other"], claims: [], reasons: [], subtypes: SUBTYPES, ...more,
  });
}

const CHAIN = graph(
  { "m.a": ["id", "x"], "m.b": ["id", "x"], "m.c": ["x", "n"], "m.d": ["y"] },
  [["m.a", "id", "m.b", "id"], ["m.a", "x", "m.b", "x"], ["m.b", "x", "m.c", "x", 1]],
  [["m.c", "m.d", 1]],
);
const of = (g, table, column) => ({ node: g.number.get(table), ...(column ? { column: g.find(g.number.get(table), column) } : {}) });
const shown = (view) => [...view.tables.keys()].map((n) => view.graph.ids[n]).sort();

test("a column shows the tables that it flows through and no others", () => {
  assert.deepEqual(shown(walk(CHAIN, of(CHAIN, "m.b", "x"), { depth: 5 })), ["m.a", "m.b", "m.c"]);
  assert.deepEqual(shown(walk(CHAIN, of(CHAIN, "m.b", "id"), { depth: 5 })), ["m.a", "m.b"]);
});

test("direction and depth bound what is shown", () => {
  assert.deepEqual(shown(walk(CHAIN, of(CHAIN, "m.b", "x"), { depth: 5, direction: "up" })), ["m.a", "m.b"]);
  assert.deepEqual(shown(walk(CHAIN, of(CHAIN, "m.a", "x"), { depth: 1 })), ["m.a", "m.b"]);
});

test("a table that reads without columns is shown as such when tables are looked at", () => {
  const picture = scene(walk(CHAIN, of(CHAIN, "m.c"), { depth: 1 }));
  const card = picture.cards.get(CHAIN.number.get("m.d"));
  assert.equal(card.columns.length, 0);
  assert.deepEqual(picture.links.filter((l) => l.toNode === card.node).map((l) => l.look), ["none"]);
});

test("a reader whose columns are not known is in the picture of a column that it may use", () => {
  const g = graph({ "m.a": ["x"], "m.b": [] }, [], [["m.a", "m.b", 2]]);
  const picture = scene(walk(g, of(g, "m.a", "x"), { depth: 1 }));
  assert.deepEqual(picture.links.map((l) => l.look), ["unknown"]);
});

test("tables over the limit are left out and counted", () => {
  const tables = { "m.hub": ["x"] }, edges = [];
  for (let i = 0; i < 700; i++) { tables[`m.t${i}`] = ["x"]; edges.push(["m.hub", "x", `m.t${i}`, "x"]); }
  const g = graph(tables, edges), view = walk(g, of(g, "m.hub", "x"), { depth: 1 }), picture = scene(view);
  assert.equal(view.tables.size, MOST_TABLES);
  assert.equal(view.leftOut.size, 701 - MOST_TABLES);
  assert.equal(picture.cards.size, MOST_TABLES);
  assert.equal(easyDepth(g, of(g, "m.hub", "x"), { direction: "both" }), 1);
});

test("no walk goes further than five hops", () => {
  const ids = Array.from({ length: 9 }, (_, i) => `m.t${i}`);
  const g = graph(Object.fromEntries(ids.map((id) => [id, ["x"]])), ids.slice(1).map((id, i) => [ids[i], "x", id, "x"]));
  assert.equal(walk(g, of(g, "m.t0", "x"), { depth: 50 }).tables.size, 6);
});

test("a cycle is walked once and drawn with an edge back", () => {
  const g = graph({ "m.a": ["x"], "m.b": ["x"] }, [["m.a", "x", "m.b", "x"], ["m.b", "x", "m.a", "x"]]);
  const picture = scene(walk(g, of(g, "m.a", "x"), { depth: 5 }));
  assert.equal(picture.cards.size, 2);
  assert.equal(picture.links.length, 2);
});

test("a trace follows one column and leaves its neighbours out", () => {
  const picture = scene(walk(CHAIN, of(CHAIN, "m.b"), { depth: 2 }));
  const found = trace(picture, of(CHAIN, "m.a", "x").column);
  assert.deepEqual([...found.columns].map((c) => `${CHAIN.ids[CHAIN.owner[c]]}.${CHAIN.column(c)}`).sort(), ["m.a.x", "m.b.x", "m.c.x"]);
});

test("indirect edges count only for the kinds that are switched on", () => {
  const g = graph({ "m.a": ["x", "f"], "m.b": ["x"] }, [["m.a", "x", "m.b", "x"]]);
  g.addIndirect({ edges: [[], [], []], rows: [[1], [0], [4]] });
  const looks = (kinds) => scene(walk(g, of(g, "m.b"), { depth: 1, kinds })).links.map((l) => l.look).sort();
  assert.deepEqual(looks(new Set()), ["value"]);
  assert.deepEqual(looks(new Set([3])), ["value"]);
  assert.deepEqual(looks(new Set([4])), ["indirect", "value"]);
});

test("a stale claim is drawn as stale and one that agrees adds its producer", () => {
  const claims = [[2, 0, 0, 0, 1, "2026-01-02"], [3, 1, 0, 0, 0, "2026-01-03"]];
  const g = graph({ "m.a": ["id", "x"], "m.b": ["id", "x"] }, [["m.a", "x", "m.b", "x"]], [], { claims });
  const links = scene(walk(g, of(g, "m.b"), { depth: 1 })).links.map((l) => l.look).sort();
  assert.deepEqual(links, ["stale", "value"]);
  assert.deepEqual(g.claims(1, 3).map((p) => p.name), ["other"]);
});

test("a command stands once between two tables, with all that it gives", () => {
  const g = graph({ "m.a": ["x", "y"], "m.b": ["x", "y"] }, [["m.a", "x", "m.b", "x", 65], ["m.a", "y", "m.b", "y", 65]], [], { commands: [["to_eur", null]], through: [[2, 0, 0], [3, 1, 0]] });
  const chips = (options) => scene(walk(g, of(g, "m.b"), { depth: 1 }), options).links.filter((l) => l.chip).map((l) => l.chip.names);
  assert.deepEqual(chips(), [["to_eur"]]);
  assert.deepEqual(chips({ openAll: true }), [["to_eur"]]);
});

test("a command that reads two tables is one node, and all its edges pass there", () => {
  const g = graph({ "m.a": ["x"], "m.b": ["y"], "m.c": ["z"] }, [["m.a", "x", "m.c", "z", 65], ["m.b", "y", "m.c", "z", 65]], [], { commands: [["to_eur", null]], through: [[2, 0, 0], [2, 1, 0]] });
  const { links } = scene(walk(g, of(g, "m.c"), { depth: 1 }));
  const chip = links.find((l) => l.chip).chip;
  assert.equal(links.filter((l) => l.chip).length, 1);
  assert.ok(links.every((l) => l.path.includes(` ${chip.x},${chip.y}C`)));
});

test("a command that takes two columns of a statement stands on the edges of both", () => {
  const column = (id, relation, name, kind) => ({ id, relation, column: name, kind });
  const edge = (source, target) => ({ source, target, transform: "TRANSFORMATION", ops: [{ name: "to_eur", kind: "command" }] });
  const nodes = [column("r:1", "result", "eur", "derived"), column("t:amount", "t", "amount", "source"), column("t:rate", "t", "rate", "source"), column("command:to_eur:r:1", "to_eur", null, "command")];
  const edges = [edge("t:amount", "command:to_eur:r:1"), edge("command:to_eur:r:1", "r:1"), edge("t:rate", "command:to_eur:r:1"), edge("command:to_eur:r:1", "r:1")];
  const g = statementGraph({ nodes, edges, outputs: ["r:1"], state: "known" }, { ...CHAIN.core });
  const links = scene(walk(g, { node: g.target }, { depth: 2 })).links;
  assert.deepEqual(links.map((l) => [l.look, l.members.length, l.commands]), [["command", 2, ["to_eur"]]]);
});

test("the search finds models, columns, and columns of a model, exact names first", () => {
  const search = new Search(CHAIN), names = (text) => search.find(text).items.map((i) => (i.column === undefined ? CHAIN.ids[i.node] : `${CHAIN.ids[CHAIN.owner[i.column]]}.${CHAIN.column(i.column)}`));
  assert.deepEqual(names("X"), ["m.a.x", "m.b.x", "m.c.x"]);
  assert.deepEqual(names("b.id"), ["m.b.id"]);
  assert.equal(search.find("nothing like it").total, 0);
});

test("a hash leads back to the same place, also with names that need escaping", () => {
  const g = graph({ "m.a/b": ["50% #?"] }, []);
  const place = { focus: of(g, "m.a/b", "50% #?"), direction: "up", depth: 3, kinds: new Set([4, 5]) };
  const found = fromHash(toHash(place, g), g);
  assert.deepEqual([found.focus, found.direction, found.depth, found.kinds], [place.focus, "up", 3, place.kinds]);
  assert.equal(fromHash("#/node/gone", g).missing, "gone");
});

test("highlighting changes no character of the SQL", () => {
  const sql = "select 'it''s' as \"a b\", sum(x) -- why\nfrom t /* * / */ where y > 1.5e3 and `z` = $1 </script>";
  assert.equal(tokens(sql).map(([, text]) => text).join(""), sql);
});

test("marks that turn the direction of text are spelled out", () => {
  assert.equal(visible("a\u202eb"), "a(U+202E)b");
});
