import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, FIRST_CARDS, FIRST_LINKS, fitted, holds, sight, toReveal, zoomed } from "../../lineage_post/explorer/page/src/camera.js";

const BOX = { w: 1000, h: 600 };
const card = (node, x, y, distance = 0) => ({ node, x, y, distance, height: 78 });
const link = (x1, y1, x2, y2) => ({ left: x1, right: x2, top: y1, bottom: y2 });
const picture = (cards, links = [], width = 3000, height = 3000) => ({ cards: new Map(cards.map((c) => [c.node, c])), links, width, height });

test("a small picture is shown whole and in the middle", () => {
  const at = fitted(picture([card(1, 0, 0)], [], 400, 200), BOX, 1);
  assert.equal(at.k, 1);
  assert.equal(at.x, 300);
});

test("a large picture keeps a readable size, with its focus in sight", () => {
  const focus = card(7, 2000, 2500), at = fitted(picture([focus]), BOX, 7);
  assert.ok(at.k >= 0.6);
  assert.deepEqual(toReveal(focus, at, BOX), [0, 0]);
});

test("zooming keeps the place under the pointer", () => {
  const at = { x: 10, y: 20, k: 1 }, near = zoomed(at, 2, 300, 200);
  assert.equal((300 - at.x) / at.k, (300 - near.x) / near.k);
  assert.equal(zoomed(at, 1000, 0, 0).k, 2.5);
});

test("only what is in sight has elements", () => {
  const far = card(2, 2500, 2500), near = card(1, 100, 100), edges = [link(320, 130, 900, 200), link(2400, 2400, 2500, 2500)];
  const part = sight({ x: 0, y: 0, k: 1 }, BOX), found = drawn(picture([near, far], edges), part, 50, 50);
  assert.deepEqual(found.cards.map((c) => c.node), [1]);
  assert.equal(found.links.length, 1);
  assert.equal(found.isAll, true);
});

test("an edge between two cards out of sight is drawn where it crosses", () => {
  const found = drawn(picture([card(1, -900, 0), card(2, 1500, 0)], [link(-676, 40, 1500, 40)]), sight({ x: 0, y: 0, k: 1 }, BOX), 50, 50);
  assert.deepEqual([found.cards.length, found.links.length], [0, 1]);
});

test("of many cards the nearest to the focus come before the first paint, and it is said that more wait", () => {
  const cards = Array.from({ length: 300 }, (_, i) => card(i, i % 10, i % 7, Math.floor(i / 30)));
  const found = drawn(picture(cards), sight({ x: 0, y: 0, k: 1 }, BOX), FIRST_CARDS, FIRST_LINKS);
  assert.equal(found.cards.length, FIRST_CARDS);
  assert.ok(found.cards.every((c) => c.distance <= 1));
  assert.equal(found.isAll, false);
});

test("a part beyond the box holds the box", () => {
  const at = { x: -200, y: 30, k: 0.7 };
  assert.ok(holds(sight(at, BOX, 100), sight(at, BOX)));
  assert.ok(!holds(sight(at, BOX), sight(at, BOX, 100)));
});
