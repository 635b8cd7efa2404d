import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Card } from "./Card.jsx";
import { Legend } from "./Legend.jsx";
import { HEAD, trace, WIDTH } from "./scene.js";

const MARGIN = 26, SMALLEST = 0.5;

/** The drawn graph. Hovering works on the elements themselves, so that nothing is drawn again. */
export function Canvas({ graph, picture, shown, onShow, onFocus, onToggle, onExpand }) {
  const box = useRef(), world = useRef(), at = useRef({ x: 0, y: 0, k: 1 }), drag = useRef(null), last = useRef(null);
  const apply = () => { const { x, y, k } = at.current; world.current.style.transform = `translate(${x}px,${y}px) scale(${k})`; box.current.style.backgroundPosition = `${x}px ${y}px`; };
  const { focus } = picture.view;

  const fit = () => {
    const { clientWidth: w, clientHeight: h } = box.current, card = picture.cards.get(focus.node);
    const whole = Math.min(1, (w - 2 * MARGIN) / picture.width, (h - 2 * MARGIN - 30) / picture.height);
    const k = Math.max(SMALLEST, whole);
    at.current = whole >= SMALLEST
      ? { k, x: (w - picture.width * k) / 2, y: Math.max(MARGIN, (h - picture.height * k) / 2) }
      : { k: 0.8, x: w / 2 - (card.x + WIDTH / 2) * 0.8, y: h / 2 - (card.y + HEAD) * 0.8 };
    apply();
  };
  useLayoutEffect(() => {
    const key = `${focus.node}/${focus.column}/${picture.depth}/${picture.cards.size}`;
    if (last.current !== key) fit();
    last.current = key;
  }, [picture]);
  useEffect(() => {
    const resized = new ResizeObserver(() => fit());
    resized.observe(box.current);
    return () => resized.disconnect();
  }, [picture]);
  useEffect(() => {
    const wheel = (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey || !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) zoom(Math.exp(-e.deltaY * 0.0014), e.clientX, e.clientY);
      else move(-(e.deltaX || e.deltaY), 0);
    };
    const element = box.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);

  const move = (dx, dy) => { at.current.x += dx; at.current.y += dy; apply(); };
  const zoom = (factor, cx, cy) => {
    const r = box.current.getBoundingClientRect(), now = at.current, k = Math.max(0.1, Math.min(2.5, now.k * factor));
    const px = (cx ?? r.left + r.width / 2) - r.left, py = (cy ?? r.top + r.height / 2) - r.top;
    at.current = { k, x: px - (px - now.x) * k / now.k, y: py - (py - now.y) * k / now.k };
    apply();
  };
  const key = (e) => {
    const steps = { ArrowLeft: [70, 0], ArrowRight: [-70, 0], ArrowUp: [0, 70], ArrowDown: [0, -70] }[e.key];
    if (e.key === "+" || e.key === "=") zoom(1.2);
    else if (e.key === "-") zoom(1 / 1.2);
    else if (e.key === "0") fit();
    else if (steps && e.target.dataset.column !== undefined) neighbour(e);
    else if (steps) move(...steps);
    else return;
    e.preventDefault();
  };
  /** Left and right go along the lineage of a column, up and down through its card. */
  const neighbour = (e) => {
    const c = Number(e.target.dataset.column), all = picture.links.flatMap((l) => l.members);
    const column = { ArrowLeft: () => all.find((m) => m.to === c && m.from !== null)?.from, ArrowRight: () => all.find((m) => m.from === c && m.to !== null)?.to, ArrowUp: () => c - 1, ArrowDown: () => c + 1 }[e.key]();
    const target = world.current.querySelector(`[data-column="${column}"]`) ?? world.current.querySelector(`[data-strip="${column === undefined ? "" : graph.owner[column]}"]`);
    target?.focus();
  };

  const paint = (traced, near) => {
    const isOn = Boolean(traced || near !== undefined);
    world.current.classList.toggle("tracing", isOn);
    const lit = new Set(), names = new Map();
    picture.links.forEach((link, i) => {
      const on = traced ? link.members.some(traced.has) : link.fromNode === near || link.toNode === near;
      world.current.firstChild.querySelector(`[data-link="${i}"]`)?.classList.toggle("on", isOn && on);
      if (isOn && on) lit.add(link.fromNode).add(link.toNode);
    });
    if (traced) for (const c of traced.columns) { lit.add(graph.owner[c]); names.set(graph.owner[c], [...(names.get(graph.owner[c]) ?? []), graph.column(c)]); }
    if (near !== undefined) lit.add(near);
    for (const card of world.current.querySelectorAll(".card")) {
      const n = Number(card.dataset.node), said = names.get(n);
      card.classList.toggle("on", isOn && lit.has(n));
      const through = card.querySelector(".through");
      if (through) through.textContent = said ? said.slice(0, 3).join(", ") + (said.length > 3 ? ` +${said.length - 3}` : "") : "";
    }
    for (const row of world.current.querySelectorAll(".row[data-column]")) row.classList.toggle("on", Boolean(traced?.columns.has(Number(row.dataset.column))));
  };
  const over = (e) => {
    const row = e.target.closest?.("[data-column]"), card = e.target.closest?.(".card");
    if (row) paint(trace(picture, Number(row.dataset.column)));
    else if (card) paint(null, Number(card.dataset.node));
    else if (!e.target.closest?.("[data-link]")) paint(null, undefined);
  };

  return (
    <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Lineage graph. Arrow keys move it, plus and minus zoom, zero fits it in." onKeyDown={key}
      onPointerDown={(e) => { if (!e.target.closest("button, a, .hitbox, .legend")) { drag.current = [e.clientX, e.clientY]; box.current.setPointerCapture(e.pointerId); } }}
      onPointerMove={(e) => { if (drag.current) { move(e.clientX - drag.current[0], e.clientY - drag.current[1]); drag.current = [e.clientX, e.clientY]; } }}
      onPointerUp={() => { drag.current = null; }} onMouseOver={over} onMouseLeave={() => paint(null, undefined)} onFocusCapture={over}>
      <div class="world" ref={world}>
        <svg class="edges" width={picture.width + 40} height={picture.height + 80} aria-hidden="true">
          {picture.links.map((link, i) => <Link key={link.key} graph={graph} link={link} index={i} onShow={onShow} onFocus={onFocus} />)}
        </svg>
        {[...picture.cards.values()].map((card) => <Card key={card.node} graph={graph} card={card} focus={focus} shown={shown} onShow={onShow} onFocus={onFocus} onToggle={onToggle} onExpand={onExpand} />)}
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(0.8)}>{"\u2212"}</button>
        <button type="button" aria-label="Fit in" onClick={fit}>{"\u2922"}</button>
      </div>
      <Legend />
    </div>
  );
}

/** An edge; a command's opens the command with a click, the relation with two. */
function Link({ graph, link, index, onShow, onFocus }) {
  const first = link.members[0], isCommand = link.look === "command";
  const relation = link.toNode;
  const open = () => onShow(isCommand || first.to !== null ? { edge: first, node: relation, isCommand } : { node: relation });
  return (
    <g data-link={index} class={`link ${link.look}`} onClick={open} onDblClick={() => onFocus({ node: relation })}>
      <title>{title(graph, link)}</title>
      <path class="hitbox" d={link.path} />
      <path class="line" d={link.path} />
      <circle class="end" cx={link.x2} cy={link.y2} r="2.600" />
    </g>
  );
}

function title(graph, link) {
  const { members, look } = link, first = members[0];
  const ends = `${graph.labels[link.fromNode]} to ${graph.labels[link.toNode]}`;
  if (look === "none") return `${ends}: no columns flow`;
  if (look === "unknown") return `${ends}: not available, any column may flow`;
  if (look === "native" || look === "flow") return ends;
  const stale = look === "stale" ? `, stale: ${graph.claims(first.from, first.to).map((p) => `${p.name} last said so ${p.seen}`).join("; ")}` : "";
  if (members.length > 1) return `${ends}: ${members.length} edges${stale}`;
  return `${graph.column(first.from)} to ${first.to === null ? "every row" : graph.column(first.to)}: ${graph.core.subtypes[first.code & 15]}${stale}`;
}
