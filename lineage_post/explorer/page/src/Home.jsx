import { useMemo } from "preact/hooks";
import { Found } from "./Header.jsx";
import { KINDS, OUTPUT, RESTRICTED } from "./graph.js";
import { plural, visible } from "./text.js";

const LISTED = 10;

export function Home({ graph, onPick, missing }) {
  const facts = useMemo(() => gather(graph), [graph]);
  return (
    <main class="home">
      {missing && <p class="notice" role="status">This project has no <bdi class="code">{visible(missing)}</bdi>.</p>}
      <h1>Where does a column come from, and what depends on it?</h1>
      <p class="lead">Search a model or a column, or begin with one of these. Keys: <kbd>/</kbd> search, <kbd>f</kbd> focus a column, arrows walk along the lineage.</p>
      {!facts.nodes && <p class="notice" role="status">There is nothing to show yet: this project has no models, seeds or sources. Build it with dbt, then run lineage-post build.</p>}
      <dl class="figures">
        <div><dt>relations</dt><dd>{facts.nodes.toLocaleString("en")}</dd></div>
        <div><dt>columns</dt><dd>{graph.columnCount.toLocaleString("en")}</dd></div>
        <div><dt>value edges</dt><dd>{graph.edgeCount.toLocaleString("en")}</dd></div>
        <div class={facts.gaps ? "warn" : ""}><dt>columns not known</dt><dd>{facts.gaps.toLocaleString("en")}</dd></div>
      </dl>
      <div class="lists">
        <List title="Final outputs" graph={graph} items={facts.outputs} onPick={onPick} />
        <List title="Most used columns" graph={graph} items={facts.used} onPick={onPick} note={(item) => plural(item.count, "use")} />
        {facts.unknown.length > 0 && <List title="Not all known" graph={graph} items={facts.unknown} onPick={onPick} note={(item) => graph.nodeState(item.node).state} />}
        {facts.cycles.length > 0 && <List title="On a cycle" graph={graph} items={facts.cycles} onPick={onPick} note={(item) => item.kind} />}
      </div>
    </main>
  );
}

function List({ title, graph, items, onPick, note }) {
  if (!items.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {items.slice(0, LISTED).map((item) => (
          <li key={item.column ?? item.node}>
            <button type="button" onClick={() => onPick(item.column === undefined ? { node: item.node } : { node: graph.owner[item.column], column: item.column })}>
              <Found graph={graph} item={item} />{note && <span class="note">{note(item)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {items.length > LISTED && <p class="quiet">and {(items.length - LISTED).toLocaleString("en")} more</p>}
    </section>
  );
}

function gather(graph) {
  const isSource = (n) => ["source", "native"].includes(KINDS[graph.kinds[n]]);
  const isHidden = (n) => Boolean(graph.marks[n] & RESTRICTED);
  const all = graph.ids.map((_, n) => n).filter((n) => !isHidden(n));
  const built = all.filter((n) => !isSource(n));
  const outputs = built.filter((n) => graph.marks[n] & OUTPUT).map((node) => ({ node, count: graph.columnsOf(node) }));
  outputs.sort((a, b) => (graph.kinds[b.node] === 4) - (graph.kinds[a.node] === 4) || b.count - a.count || a.node - b.node);
  const used = [];
  for (let c = 0; c < graph.columnCount; c++) {
    const count = graph.down.first[c + 1] - graph.down.first[c];
    if (count > 1 && !isHidden(graph.owner[c])) used.push({ column: c, count });
  }
  used.sort((a, b) => b.count - a.count || a.column - b.column);
  const unknown = built.filter((n) => graph.nodeState(n).state !== "known" && !graph.nodeState(n).isOutside).map((node) => ({ node }));
  const cycles = graph.cycles.flatMap(([isError, nodes]) => nodes.map((node) => ({ node, kind: isError ? "error" : "feedback" })));
  return { nodes: all.filter((n) => graph.kinds[n] !== 3).length, gaps: graph.gaps.size, outputs, used: used.slice(0, 200), unknown, cycles };
}
