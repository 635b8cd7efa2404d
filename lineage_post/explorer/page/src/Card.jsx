import { ERROR_CYCLE, FEEDBACK, KINDS, MATERIAL, OUTPUT, RESTRICTED } from "./graph.js";
import { plural, shortened, visible } from "./text.js";

export function Card({ graph, card, focus, shown, onShow, onFocus, onToggle, onExpand }) {
  const n = card.node, marks = graph.marks[n], { state, why } = graph.nodeState(n), kind = KINDS[graph.kinds[n]];
  const isHidden = Boolean(marks & RESTRICTED), name = isHidden ? "restricted" : graph.labels[n];
  const classes = ["card", kind, state !== "known" && "gap", marks & MATERIAL && "material", marks & OUTPUT && "output", marks & ERROR_CYCLE && "error", marks & FEEDBACK && "feedback",
    isHidden && "restricted", n === focus.node && "focus", shown?.node === n && shown.column === undefined && !shown.edge && "shown"].filter(Boolean).join(" ");
  return (
    <section class={classes} data-node={n} aria-label={visible(name)} style={{ left: `${card.x}px`, top: `${card.y}px`, height: `${card.height}px` }}>
      <button type="button" class="head" title={visible(name)} onClick={() => onShow({ node: n })} onDblClick={() => onFocus({ node: n })}>
        <bdi class="name">{shortened(visible(name))}</bdi>
        <span class="sub">{subtitle(graph, n, marks, isHidden)}{state !== "known" && kind !== "native" && <em title={why}>{state}</em>}</span>
      </button>
      {card.hasStrip && <Strip graph={graph} card={card} onToggle={onToggle} />}
      {card.rows.map((c) => <Row key={c} graph={graph} c={c} focus={focus} shown={shown} onShow={onShow} onFocus={onFocus} />)}
      {card.more > 0 && <button type="button" class="row more" onClick={() => onToggle(n, "all")}>{plural(card.more, "more column")}</button>}
      {card.hiddenUp > 0 && <button type="button" class="beyond up" aria-label={`Show ${plural(card.hiddenUp, "more table")} upstream`} onClick={() => onExpand(n, "up")}>+{card.hiddenUp}</button>}
      {card.hiddenDown > 0 && <button type="button" class="beyond down" aria-label={`Show ${plural(card.hiddenDown, "more table")} downstream`} onClick={() => onExpand(n, "down")}>+{card.hiddenDown}</button>}
    </section>
  );
}

function subtitle(graph, n, marks, isHidden) {
  if (isHidden) return "not visible to you";
  const kind = KINDS[graph.kinds[n]], type = graph.ids[n].split(/[.:]/)[0];
  const words = [kind === "native" ? "raw data" : kind === "command" ? "python model" : type];
  if (marks & ERROR_CYCLE) words.push("cycle");
  else if (marks & FEEDBACK) words.push("feedback");
  else if (marks & OUTPUT && kind !== "consumer") words.push("final output");
  return words.join(", ");
}

function Strip({ graph, card, onToggle }) {
  const n = card.node, count = card.columns.length, all = graph.columnsOf(n);
  const text = count ? plural(count, "column") : all ? "no columns" : "columns not known";
  return (
    <button type="button" class={`strip${count ? "" : " nothing"}`} data-strip={n} aria-expanded={count ? card.isOpen : undefined} disabled={!count}
      title={count ? `${count} of ${plural(all, "column")} take part` : "no column of it takes part"} onClick={() => onToggle(n, card.isOpen ? "none" : "some")}>
      {count > 0 && <i class="chevron" aria-hidden="true" />}<span class="count">{text}</span><bdi class="through" />
    </button>
  );
}

function Row({ graph, c, focus, shown, onShow, onFocus }) {
  const { state, why } = graph.columnState(c), n = graph.owner[c];
  const classes = ["row", c === focus.column && "root", shown?.column === c && "shown", state !== "known" && "gap"].filter(Boolean).join(" ");
  const name = visible(graph.column(c));
  return (
    <button type="button" class={classes} data-column={c} title={why ? `${name}: ${state}, ${why}` : name} onClick={() => onShow({ node: n, column: c })} onDblClick={() => onFocus({ node: n, column: c })}
      onKeyDown={(e) => { if (e.key === "f" || (e.key === "Enter" && e.shiftKey)) { e.preventDefault(); onFocus({ node: n, column: c }); } }}>
      <bdi>{name}</bdi>{state !== "known" && <em>{state}</em>}
    </button>
  );
}
