import { Component } from "preact";
import { shortened, visible } from "./text.js";

/** An edge; it changes only with its picture. */
export class Link extends Component {
  shouldComponentUpdate(next) { return next.link !== this.props.link; }
  render({ link }) {
    return (
      <g data-link={link.index} class={`link ${link.look}`}>
        <path class="hitbox" d={link.path} />
        <path class="line" d={link.path} />
        <path class="end" d={`M${link.x2},${link.y2}h0`} />
      </g>
    );
  }
}

/** The command that an edge passes, as a node on it. */
export function Chip({ link }) {
  const { x, y, names } = link.chip, text = names.length > 1 ? `${names.length} commands` : shortened(visible(names[0]), 15);
  return <button type="button" class="chip" data-link={link.index} aria-label={`Command ${names.map(visible).join(", ")}`} style={{ left: `${x}px`, top: `${y}px` }}>{text}</button>;
}

/** What the details of an edge are asked for with; of a command all that it takes and gives. */
export function edgeOf(links, link) {
  const first = link.members[0], isCommand = link.look === "command";
  if (!isCommand && first.to === null) return { node: link.toNode };
  const edges = link.station ? links.filter((l) => l.station === link.station).flatMap((l) => l.members) : link.members;
  return { edge: first, edges, node: link.toNode, isCommand };
}

/** Gives an edge its tooltip, when the pointer first comes to it. */
export function titleOf(element, graph, link) {
  if (!link || element.querySelector("title") || element.title) return;
  if (element.namespaceURI.endsWith("xhtml")) { element.title = title(graph, link); return; }
  const made = document.createElementNS(element.namespaceURI, "title");
  made.textContent = title(graph, link);
  element.prepend(made);
}

function title(graph, link) {
  const { members, look } = link, first = members[0];
  const ends = `${visible(graph.labels[link.fromNode])} to ${visible(graph.labels[link.toNode])}`;
  if (look === "none") return `${ends}: no columns flow`;
  if (look === "unknown") return `${ends}: not available, any column may flow`;
  if (look === "native" || look === "flow") return ends;
  const stale = look === "stale" ? `, stale: ${graph.claims(first.from, first.to).map((p) => `${p.name} last said so ${p.seen}`).join("; ")}` : "";
  const through = link.commands?.length ? `, through ${link.commands.map(visible).join(", ")}` : "";
  if (members.length > 1) return `${ends}: ${members.length} edges${through}${stale}`;
  return `${visible(graph.column(first.from))} to ${first.to === null ? "every row" : visible(graph.column(first.to))}: ${graph.core.subtypes[first.code & 15]}${through}${stale}`;
}
