import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { BEYOND, drawn, FIRST_CARDS, FIRST_LINKS, fitted, holds, sight, STEP, toReveal, zoomed } from "./camera.js";
import { Card } from "./Card.jsx";
import { Legend } from "./Legend.jsx";
import { Chip, edgeOf, Link, titleOf } from "./Link.jsx";
import { light, lightColumn, lightNode } from "./light.js";

/** The drawn graph. Moving and hovering work on the elements themselves, so that nothing is drawn again. */
export function Canvas({ graph, picture, shown, onShow, onFocus, onToggle, onExpand }) {
  const box = useRef(), world = useRef(), drag = useRef(null), lit = useRef(null), wanted = useRef(null);
  const { focus } = picture.view, name = `${focus.node}/${focus.column}/${picture.depth}/${picture.cards.size}`;
  const eye = useRef(null);
  const [, setTurn] = useState(0);
  const redraw = () => setTurn((turn) => turn + 1);

  if (!eye.current) eye.current = { size: { w: Math.max(300, innerWidth - (shown ? 400 : 0)), h: Math.max(200, innerHeight - 110) }, name: null };
  const fit = () => {
    const e = eye.current;
    e.at = fitted(picture, e.size, focus.node);
    e.isMoved = false;
    look(0, FIRST_CARDS, FIRST_LINKS);
  };
  const look = (beyond, cards, links) => Object.assign(eye.current, { part: sight(eye.current.at, eye.current.size, beyond), cards, links });
  if (eye.current.picture !== picture) {
    const e = eye.current, held = e.held ?? (e.isMoved ? e.picture?.cards.get(focus.node) : undefined), card = held && picture.cards.get(held.node);
    // The card that was clicked stays under the pointer, whatever its columns push aside.
    if (card && (e.held || e.name === name)) { e.at = { ...e.at, x: e.at.x + (held.x - card.x) * e.at.k, y: e.at.y + (held.y - card.y) * e.at.k }; look(0, FIRST_CARDS, FIRST_LINKS); }
    else fit();
    Object.assign(e, { picture, name, held: undefined });
  }
  const { part, cards: mostCards, links: mostLinks } = eye.current;
  const seen = drawn(picture, part, mostCards, mostLinks);

  const apply = () => { const { x, y, k } = eye.current.at; world.current.style.transform = `translate(${x}px,${y}px) scale(${k})`; box.current.style.backgroundPosition = `${x}px ${y}px`; };
  useLayoutEffect(() => {
    const size = { w: box.current.clientWidth, h: box.current.clientHeight }, e = eye.current;
    if (e.drawn !== name && !e.isMoved && size.w && (size.w !== e.size.w || size.h !== e.size.h)) {
      e.size = size;
      fit();
      redraw();
    }
    e.drawn = name;
    apply();
    if (wanted.current) {
      const target = world.current.querySelector(wanted.current);
      wanted.current = null;
      target?.focus({ preventScroll: true });
    }
    if (lit.current) light(world.current, graph, picture, lit.current);
  });
  // What is not drawn yet, and what lies just beyond, comes in the frames after the first paint.
  useEffect(() => {
    const e = eye.current;
    if (seen.isAll && holds(e.part, sight(e.at, e.size, BEYOND / 2))) return undefined;
    let timer;
    const frame = requestAnimationFrame(() => { timer = setTimeout(() => { look(BEYOND, e.cards * STEP, e.links * STEP); redraw(); }); });
    return () => { cancelAnimationFrame(frame); clearTimeout(timer); };
  });
  useEffect(() => {
    const resized = new ResizeObserver(() => {
      const e = eye.current, size = { w: box.current.clientWidth, h: box.current.clientHeight };
      if (!size.w || (size.w === e.size.w && size.h === e.size.h)) return;
      e.size = size;
      // What one looks at stays in sight. A picture that nobody moved is fitted in again, but not
      // before the second click of a double one has met its card.
      const card = picture.cards.get(shown?.node) ?? picture.cards.get(focus.node);
      if (e.isMoved && card) move(...toReveal(card, e.at, size));
      else {
        clearTimeout(e.timer);
        e.timer = setTimeout(() => { if (!e.isMoved) e.refit(); }, 350);
      }
    });
    resized.observe(box.current);
    return () => resized.disconnect();
  }, [picture, shown]);
  useEffect(() => {
    const wheel = (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey || (!e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX))) zoom(Math.exp(-e.deltaY * 0.0014), e.clientX, e.clientY);
      else move(-(e.deltaX || e.deltaY), 0);
    };
    const element = box.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => { element.removeEventListener("wheel", wheel); clearTimeout(eye.current.timer); };
  }, []);

  const moved = () => {
    const e = eye.current;
    e.isMoved = true;
    apply();
    if (e.frame || holds(e.part, sight(e.at, e.size))) return;
    e.frame = requestAnimationFrame(() => { e.frame = null; look(BEYOND, FIRST_CARDS * STEP, FIRST_LINKS * STEP); redraw(); });
  };
  const move = (dx, dy) => { if (dx || dy) { eye.current.at.x += dx; eye.current.at.y += dy; moved(); } };
  const zoom = (factor, cx, cy) => {
    const r = box.current.getBoundingClientRect();
    eye.current.at = zoomed(eye.current.at, factor, (cx ?? r.left + r.width / 2) - r.left, (cy ?? r.top + r.height / 2) - r.top);
    moved();
  };
  const refit = () => { fit(); redraw(); };
  // Whatever is drawn by the time that a timer comes is what is to be fitted in.
  eye.current.refit = refit;

  const key = (e) => {
    const steps = { ArrowLeft: [70, 0], ArrowRight: [-70, 0], ArrowUp: [0, 70], ArrowDown: [0, -70] }[e.key];
    const column = e.target.dataset.column;
    if (e.key === "+" || e.key === "=") zoom(1.2);
    else if (e.key === "-") zoom(1 / 1.2);
    else if (e.key === "0") refit();
    else if (column !== undefined && (e.key === "f" || (e.key === "Enter" && e.shiftKey))) onFocus?.({ node: graph.owner[column], column: Number(column) });
    else if (steps && column !== undefined) walkTo(neighbour(Number(column), e.key));
    else if (steps) move(...steps);
    else return;
    e.preventDefault();
  };
  /** Left and right go along the lineage of a column, up and down through its card. */
  const neighbour = (c, way) => {
    const all = picture.links.flatMap((l) => l.members);
    if (way === "ArrowLeft") return all.find((m) => m.to === c && m.from !== null)?.from;
    if (way === "ArrowRight") return all.find((m) => m.from === c && m.to !== null)?.to;
    const { rows, row } = picture.cards.get(graph.owner[c]);
    return rows[row.get(c) + (way === "ArrowUp" ? -1 : 1)];
  };
  const walkTo = (c) => {
    const card = c === undefined ? undefined : picture.cards.get(graph.owner[c]);
    if (!card) return;
    wanted.current = card.row.has(c) ? `[data-column="${c}"]` : `[data-strip="${card.node}"]`;
    move(...toReveal(card, eye.current.at, eye.current.size));
    look(BEYOND, Infinity, Infinity);
    redraw();
  };

  const over = (e) => {
    const row = e.target.closest?.("[data-column]"), card = e.target.closest?.(".card"), link = e.target.closest?.("[data-link]");
    if (link) titleOf(link, graph, picture.links[link.dataset.link]);
    if (link && !card) return;
    const next = row ? `c${row.dataset.column}` : card ? `n${card.dataset.node}` : null;
    if (next === (lit.current?.key ?? null)) return;
    lit.current = next && { key: next, ...(row ? lightColumn(picture, Number(row.dataset.column)) : lightNode(Number(card.dataset.node))) };
    light(world.current, graph, picture, lit.current);
  };
  const leave = () => { lit.current = null; light(world.current, graph, picture, null); };
  const focused = (e) => {
    // The browser scrolls to what has the focus; here that is the camera's work.
    box.current.scrollTop = box.current.scrollLeft = 0;
    const card = picture.cards.get(Number(e.target.closest?.(".card")?.dataset.node));
    if (card && e.target.matches(":focus-visible")) move(...toReveal(card, eye.current.at, eye.current.size));
    over(e);
  };
  const change = (n, ask) => { eye.current.held = picture.cards.get(n); ask(); };
  const click = (e) => {
    const at = (selector) => e.target.closest(selector), card = at(".card"), n = Number(card?.dataset.node), link = at("[data-link]");
    if (link) onShow(edgeOf(picture.links, picture.links[link.dataset.link]));
    else if (!card) return;
    else if (at(".head")) onShow({ node: n });
    else if (at(".strip")) change(n, () => onToggle(n, picture.cards.get(n).isOpen ? "none" : "some"));
    else if (at(".row.more")) change(n, () => onToggle(n, "all"));
    else if (at(".beyond")) change(n, () => onExpand(n, at(".beyond").dataset.way));
    else if (at("[data-column]")) onShow({ node: n, column: Number(at("[data-column]").dataset.column) });
  };
  const twice = (e) => {
    if (!onFocus) return;
    const row = e.target.closest("[data-column]"), card = e.target.closest(".card"), link = e.target.closest("[data-link]");
    if (link) onFocus({ node: picture.links[link.dataset.link].toNode });
    else if (row) onFocus({ node: Number(card.dataset.node), column: Number(row.dataset.column) });
    else if (e.target.closest(".head")) onFocus({ node: Number(card.dataset.node) });
  };

  return (
    <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Lineage graph. Arrow keys move it, plus and minus zoom, zero fits it in." onKeyDown={key}
      onPointerDown={(e) => { if (e.button === 0 && !e.target.closest("button, a, .hitbox, .legend")) { drag.current = [e.clientX, e.clientY]; box.current.setPointerCapture(e.pointerId); } }}
      onPointerMove={(e) => { if (drag.current) { move(e.clientX - drag.current[0], e.clientY - drag.current[1]); drag.current = [e.clientX, e.clientY]; } }}
      onPointerUp={() => { drag.current = null; }} onPointerCancel={() => { drag.current = null; }} onMouseOver={over} onMouseLeave={leave} onFocusCapture={focused} onClick={click} onDblClick={twice}>
      <div class="world" ref={world}>
        <svg class="edges" width={picture.width + 40} height={picture.height + 80} aria-hidden="true">
          {seen.links.map((link) => <Link key={link.key} link={link} />)}
        </svg>
        {seen.cards.map((card) => (
          <Card key={card.node} graph={graph} card={card} isFocus={card.node === focus.node} root={graph.owner[focus.column] === card.node ? focus.column : undefined}
            isShown={shown?.node === card.node && shown.column === undefined && !shown.edge} shownColumn={shown?.node === card.node && !shown.edge ? shown.column : undefined} />
        ))}
        {seen.links.map((link) => link.chip && <Chip key={link.key} link={link} />)}
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(0.8)}>{"\u2212"}</button>
        <button type="button" aria-label="Fit in" onClick={refit}>{"\u2922"}</button>
      </div>
      <Legend />
    </div>
  );
}
