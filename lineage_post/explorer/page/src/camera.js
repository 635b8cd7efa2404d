// Where a picture is looked at from, and what of it is drawn: only what is in sight has elements.
// A camera is {x, y, k}: the place of the picture's corner in the box, in pixels, and the scale.
import { HEAD, WIDTH } from "./scene.js";

const MARGIN = 30, SMALLEST = 0.6, CLOSE = 0.85, FLOOR = 44;
/** So many cards and edges are drawn before the first paint, and in each frame after it. */
export const FIRST_CARDS = 50, FIRST_LINKS = 160, STEP = 3;
/** Drawn beyond what is in sight, in pixels of the box, so that moving does not show an edge. */
export const BEYOND = 500;
/** Badges hang out of their card by so much. */
const BADGE = 40;

/** The whole picture where it stays readable, else its focus at a readable size. */
export function fitted({ cards, width, height }, { w, h }, focus) {
  const whole = Math.min(1, (w - 2 * MARGIN) / width, (h - 2 * MARGIN - FLOOR) / height);
  if (whole >= SMALLEST) return { k: whole, x: (w - width * whole) / 2, y: Math.max(MARGIN, (h - FLOOR - height * whole) / 2) };
  const card = cards.get(focus);
  return { k: CLOSE, x: placed(card.x + WIDTH / 2, width, w), y: placed(card.y + HEAD, height, h - FLOOR) };
}

/** One way of a camera at CLOSE: the focus in the middle, or the whole length if it fits. */
function placed(middle, length, room) {
  const free = room - length * CLOSE;
  return free >= 2 * MARGIN ? free / 2 : room / 2 - middle * CLOSE;
}

export function zoomed(at, factor, px, py) {
  const k = Math.max(0.1, Math.min(2.5, at.k * factor));
  return { k, x: px - (px - at.x) * k / at.k, y: py - (py - at.y) * k / at.k };
}

/** The part of the picture in the box, with `beyond` pixels more on each side. */
export function sight({ x, y, k }, { w, h }, beyond = 0) {
  return { left: (-x - beyond) / k, top: (-y - beyond) / k, right: (w - x + beyond) / k, bottom: (h - y + beyond) / k };
}

export function holds(outer, inner) {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
}

/** How far to move so that a card stands whole in the box; zeros where it does. */
export function toReveal(card, at, { w, h }) {
  const left = card.x * at.k + at.x, top = card.y * at.k + at.y, right = left + WIDTH * at.k, bottom = top + card.height * at.k;
  const way = (low, high, room) => (low < MARGIN ? MARGIN - low : high > room - MARGIN ? Math.max(room - MARGIN - high, MARGIN - low) : 0);
  return [way(left, right, w), way(top, bottom, h)];
}

/**
 * The cards and edges that touch `part`, at most so many of each, those nearest the focus first;
 * `isAll` says that nothing was held back.
 */
export function drawn({ cards, links }, part, mostCards, mostLinks) {
  const touched = [...cards.values()].filter((c) => c.x < part.right + BADGE && c.x + WIDTH > part.left - BADGE && c.y < part.bottom && c.y + c.height > part.top);
  const kept = touched.length > mostCards ? [...touched].sort((a, b) => Math.abs(a.distance) - Math.abs(b.distance) || a.node - b.node).slice(0, mostCards) : touched;
  const seen = links.filter((l) => l.left < part.right && l.right > part.left && l.top < part.bottom && l.bottom > part.top);
  const few = seen.length > mostLinks ? seen.slice(0, mostLinks) : seen;
  return { cards: kept, links: few, isAll: kept.length === touched.length && few.length === seen.length };
}
