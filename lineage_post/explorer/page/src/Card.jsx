import { Component } from "preact";
import { ERROR_CYCLE, FEEDBACK, KINDS, MATERIAL, OUTPUT, RESTRICTED } from "./graph.js";
import { plural, visible } from "./text.js";

/** A table. It is drawn again only where something of it has changed; the canvas hears its clicks. */
export class Card extends Component {
  shouldComponentUpdate(next) {
    const now = this.props;
    return next.card !== now.card || next.isFocus !== now.isFocus || next.root !== now.root || next.isShown !== now.isShown || next.shownColumn !== now.shownColumn;
  }
  render({ graph, card, isFocus, isShown, root, shownColumn }) {
    const n = card.node, marks = graph.marks[n], { state, why, said, isOutside } = graph.nodeState(n), kind = KINDS[graph.kinds[n]];
    const isHidden = Boolean(marks & RESTRICTED), name = isHidden ? "restricted" : visible(graph.labels[n]), [start, end] = split(name);
    const classes = ["card", kind, isOutside ? "outside" : state !== "known" && "gap", marks & MATERIAL && "material", marks & OUTPUT && "output", marks & ERROR_CYCLE ? "error" : marks & FEEDBACK && "feedback",
      isHidden && "restricted", isFocus && "focus", isShown && "shown"].filter(Boolean).join(" ");
    return (
      <section class={classes} data-node={n} aria-label={name} style={`left:${card.x}px;top:${card.y}px;height:${card.height}px`}>
        <button type="button" class="head" title={end ? name : undefined}>
          <bdi class="name">{end ? <><span>{start}</span><span>{end}</span></> : name}</bdi>
          <span class="sub">{subtitle(graph, n, marks, isHidden)}{state !== "known" && kind !== "native" && <em title={why}>{said}</em>}</span>
        </button>
        {card.hasStrip && <Strip graph={graph} card={card} />}
        {card.rows.map((c) => <Row key={c} graph={graph} c={c} isRoot={c === root} isShown={c === shownColumn} />)}
        {card.more > 0 && <button type="button" class="row more">{plural(card.more, "more column")}</button>}
        {card.hiddenUp > 0 && <button type="button" class="beyond up" data-way="up" aria-label={`Show ${plural(card.hiddenUp, "more table")} upstream`}>+{card.hiddenUp}</button>}
        {card.hiddenDown > 0 && <button type="button" class="beyond down" data-way="down" aria-label={`Show ${plural(card.hiddenDown, "more table")} downstream`}>+{card.hiddenDown}</button>}
      </section>
    );
  }
}

/** A long name in two: models of a kind begin alike, so that the end of it is never cut off. */
function split(name) {
  return name.length > 22 ? [name.slice(0, -14), name.slice(-14)] : [name, ""];
}

function subtitle(graph, n, marks, isHidden) {
  if (isHidden) return "not visible to you";
  const kind = KINDS[graph.kinds[n]], type = graph.ids[n].split(/[.:]/)[0];
  if (graph.details) return n === graph.target ? "the statement" : "relation";
  const words = [kind === "native" ? "raw data" : kind === "command" ? "python model" : type.replace("_", " ")];
  if (marks & ERROR_CYCLE) words.push("cycle");
  else if (marks & FEEDBACK) words.push("feedback");
  else if (marks & OUTPUT && kind !== "consumer") words.push("final output");
  return words.join(", ");
}

function Strip({ graph, card }) {
  const n = card.node, count = card.columns.length, all = graph.columnsOf(n);
  const text = count ? plural(count, "column") : all ? "no columns" : "columns not known";
  return (
    <button type="button" class={`strip${count ? "" : " nothing"}`} data-strip={n} aria-expanded={count ? card.isOpen : undefined} disabled={!count}
      title={count ? `${count} of ${plural(all, "column")} take part` : "no column of it takes part"}>
      <span class="count">{text}</span><bdi class="through" />
    </button>
  );
}

function Row({ graph, c, isRoot, isShown }) {
  const { state, why } = graph.columnState(c), name = visible(graph.column(c));
  const classes = ["row", isRoot && "root", isShown && "shown", state !== "known" && "gap"].filter(Boolean).join(" ");
  return (
    <button type="button" class={classes} data-column={c} title={why ? `${name}: ${state}, ${why}` : name.length > 22 ? name : undefined}>
      <bdi>{name}</bdi>{state !== "known" && <em>{state}</em>}
    </button>
  );
}
