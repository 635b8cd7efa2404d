import { KINDS } from "./graph.js";
import { plural, visible } from "./text.js";

const WAYS = [["up", "Upstream"], ["both", "Both"], ["down", "Downstream"]];
const INDIRECT = [3, 4, 5, 6, 7, 8];

export function Toolbar({ graph, place, picture, view, go, setView }) {
  const { focus } = place;
  const toggleKind = (kind) => {
    const kinds = new Set(place.kinds);
    if (!kinds.delete(kind)) kinds.add(kind);
    go({ kinds });
  };
  return (
    <div class="bar">
      <h1>
        <i class={`dot ${KINDS[graph.kinds[focus.node]]}`} aria-hidden="true" />
        {focus.column === undefined ? <bdi>{visible(graph.labels[focus.node])}</bdi> : (
          <><button type="button" class="plain" onClick={() => go({ focus: { node: focus.node }, depth: 0 })} title="Focus the whole relation"><bdi>{visible(graph.labels[focus.node])}</bdi></button><span class="quiet">.</span><bdi class="code">{visible(graph.column(focus.column))}</bdi></>
        )}
      </h1>
      <div class="group" role="group" aria-label="Direction">
        {WAYS.map(([way, text]) => <button key={way} type="button" aria-pressed={place.direction === way} onClick={() => go({ direction: way })}>{text}</button>)}
      </div>
      <div class="group" role="group" aria-label="Depth">
        <span class="label">Depth</span>
        {[1, 2, 3, 4, 5].map((depth) => <button key={depth} type="button" aria-pressed={picture.depth === depth} aria-label={plural(depth, "hop")} onClick={() => go({ depth })}>{depth}</button>)}
      </div>
      <details class="menu">
        <summary>Indirect{place.kinds.size ? <b>{place.kinds.size}</b> : null}</summary>
        <div class="sheetlet" role="group" aria-label="Indirect influences">
          {INDIRECT.map((kind) => (
            <button key={kind} type="button" role="switch" aria-checked={place.kinds.has(kind)} onClick={() => toggleKind(kind)}>{graph.core.subtypes[kind]}</button>
          ))}
        </div>
      </details>
      <button type="button" class="toggle" aria-pressed={view.openAll} onClick={() => setView((v) => ({ ...v, openAll: !v.openAll, open: new Map() }))}>Columns</button>
      {place.missing !== undefined && <p class="notice" role="status">There is no column <bdi class="code">{visible(place.missing)}</bdi> here: the whole relation is shown.</p>}
      <Cut picture={picture} />
    </div>
  );
}

/** Says what was cut, and how to see it. */
function Cut({ picture }) {
  const { view } = picture, parts = [];
  if (view.leftOut.size) parts.push(`The graph was cut at ${view.tables.size} tables: ${plural(view.leftOut.size, "neighbour")} and what lies beyond were left out`);
  if (view.cutColumns) parts.push(`${parts.length ? "some" : "Some"} columns were left out`);
  if (!parts.length) return null;
  return <p class="notice cut" role="status">{parts.join("; ")}. One direction, less depth or one column shows less.</p>;
}
