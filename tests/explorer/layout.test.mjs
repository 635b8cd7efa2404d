import assert from "node:assert/strict";
import { test } from "node:test";
import { layout, openCycles } from "../../lineage_post/explorer/page/src/layout.js";

const size = { width: 100, height: () => 40 };
const places = (ids, edges) => layout(ids, edges, size).places;
const overlaps = (found) => {
  const all = [...found.values()];
  return all.some((a, i) => all.some((b, j) => i < j && a.x === b.x && Math.abs(a.y - b.y) < 40));
};

test("a reader stands to the right of all that it reads", () => {
  const found = places([1, 2, 3, 4], [[1, 2], [2, 4], [1, 4], [3, 4]]);
  for (const [a, b] of [[1, 2], [2, 4], [1, 4], [3, 4]]) assert.ok(found.get(a).x < found.get(b).x);
});

test("what reads nothing stands right before its first reader", () => {
  const found = places([1, 2, 3, 4], [[1, 2], [2, 3], [4, 3]]);
  assert.equal(found.get(4).rank, found.get(2).rank);
});

test("a cycle is opened at one edge and everything has a place", () => {
  const made = layout([1, 2, 3], [[1, 2], [2, 3], [3, 1]], size);
  assert.deepEqual(made.back, [[3, 1]]);
  assert.deepEqual([1, 2, 3].map((id) => made.places.get(id).rank), [0, 1, 2]);
});

test("a cycle that is entered from outside is opened where it closes", () => {
  const { forward, back } = openCycles([1, 2, 3], [[2, 3], [3, 2], [1, 2]]);
  assert.deepEqual(back, [[3, 2]]);
  assert.equal(forward.length, 2);
});

test("an edge with something on it has more room before its end, and only there", () => {
  const places = layout([1, 2, 3], [[1, 2], [2, 3]], { ...size, wide: [[1, 2]] }).places;
  assert.ok(places.get(2).x - places.get(1).x > places.get(3).x - places.get(2).x);
});

test("an edge of a table to itself moves nothing", () => {
  assert.deepEqual(places([1, 2], [[1, 2], [2, 2]]), places([1, 2], [[1, 2]]));
});

test("edges to what is not drawn are ignored", () => {
  assert.equal(places([1], [[1, 7], [8, 1]]).size, 1);
});

test("the same input gives the same places, and the order of the edges does not matter for ranks", () => {
  const ids = Array.from({ length: 60 }, (_, i) => i);
  const edges = ids.flatMap((i) => [[i, (i * 7 + 3) % 60], [i, (i * 5 + 11) % 60]]).filter(([a, b]) => a < b);
  assert.deepEqual(places(ids, edges), places(ids, edges));
  const ranks = (list) => ids.map((id) => places(ids, list).get(id).rank);
  assert.deepEqual(ranks(edges), ranks([...edges].reverse()));
});

test("boxes of one layer keep their distance", () => {
  const ids = Array.from({ length: 120 }, (_, i) => i);
  const edges = ids.slice(1).map((i) => [Math.floor((i - 1) / 5), i]);
  assert.equal(overlaps(places(ids, edges)), false);
});

test("what is tied stays in the order of its ids", () => {
  const found = places([1, 2, 3, 4], [[1, 2], [1, 3], [1, 4]]);
  assert.ok(found.get(2).y < found.get(3).y && found.get(3).y < found.get(4).y);
});

test("a hub of five hundred tables is laid out without delay", () => {
  const ids = Array.from({ length: 501 }, (_, i) => i);
  const before = process.cpuUsage();
  places(ids, ids.slice(1).map((i) => [0, i]));
  const spent = process.cpuUsage(before);
  assert.ok((spent.user + spent.system) / 1000 < 500);
});
