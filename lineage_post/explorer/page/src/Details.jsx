import { useEffect, useState } from "preact/hooks";
import { chunk } from "./chunks.js";
import { ASSUMED, CLAIMED, COMMAND, each, KINDS, kindOf, MASKED, MATERIAL, RESTRICTED, STALE } from "./graph.js";
import { Name } from "./Name.jsx";
import { Sql } from "./Sql.jsx";
import { plural, safeUrl, visible } from "./text.js";
import { Why } from "./Why.jsx";

const LISTED = 12, COLUMNS_LISTED = 60;

export function Details({ graph, shown, onShow, onFocus, onClose, hasIndirect }) {
  const found = useDetails(graph, shown.node), n = shown.node;
  const isHidden = Boolean(graph.marks[n] & RESTRICTED);
  return (
    <aside class="sheet" aria-label="Details">
      <button type="button" class="icon close" aria-label="Close details" onClick={onClose}>{"\u00d7"}</button>
      {isHidden ? <><h2>restricted</h2><p class="quiet">You may see that something stands here and how it is connected, not what it is.</p></>
        : shown.edge ? <EdgeSheet graph={graph} shown={shown} found={found} onShow={onShow} onFocus={onFocus} />
        : shown.column !== undefined ? <ColumnSheet key={shown.column} graph={graph} c={shown.column} found={found} onShow={onShow} onFocus={onFocus} hasIndirect={hasIndirect} />
        : <NodeSheet key={n} graph={graph} n={n} found={found} onShow={onShow} onFocus={onFocus} />}
    </aside>
  );
}

/** Undefined while they load. */
function useDetails(graph, n) {
  const [state, setState] = useState({});
  useEffect(() => {
    let isWanted = true;
    const load = graph.details ? Promise.resolve(graph.details[n]) : chunk(`d${Math.floor(n / graph.core.chunk)}`).then((list) => list[n % graph.core.chunk]);
    load.then((details) => isWanted && setState({ n, details: details ?? {} })).catch(() => isWanted && setState({ n, details: {}, failed: true }));
    return () => { isWanted = false; };
  }, [graph, n]);
  return state.n === n ? state.details : undefined;
}

function ColumnSheet({ graph, c, found, onShow, onFocus, hasIndirect }) {
  const n = graph.owner[c], own = found?.columns?.[c - graph.first[n]] ?? {}, { state, reason, why } = graph.columnState(c);
  const edges = own.edges ?? [], values = edges.filter(([, code]) => kindOf(code) < 3), decided = edges.filter(([, code]) => kindOf(code) >= 3);
  const claimed = [];
  each(graph.up, c, (s, code) => { if (code & CLAIMED) claimed.push([s, code]); });
  const uses = [];
  each(graph.down, c, (t, code) => uses.push([t, code]));
  const also = [];
  if (hasIndirect && graph.indirect) {
    each(graph.indirect.down, c, (t, code) => also.push([t, code]));
    each(graph.indirect.decides, c, (other, code) => also.push([null, code, other]));
  }
  const isRaw = ["source", "native"].includes(KINDS[graph.kinds[n]]);
  return (
    <>
      <p class="crumb"><i class={`dot ${KINDS[graph.kinds[n]]}`} /><button type="button" class="plain" onClick={() => onShow({ node: n })}><bdi><Name text={graph.labels[n]} /></bdi></button></p>
      <h2 class="code"><bdi><Name text={graph.column(c)} /></bdi></h2>
      <p class="badges">
        {own.type && <span class="badge code">{visible(own.type)}</span>}
        <span class={`badge ${state}`} title={why}>{state}</span>
        {values.some(([, code]) => code & MASKED) && <span class="badge" title="passes a hashing or redaction function; a small domain can still be reversed">masked</span>}
        {edges.some(([, code]) => code & ASSUMED) && <span class="badge partial" title="more than is certain">assumed</span>}
        {(own.tags ?? []).map((tag) => <span key={tag} class="badge tag">{visible(tag)}</span>)}
      </p>
      <p class="actions">{onFocus && <button type="button" class="button" onClick={() => onFocus({ node: n, column: c })}>Focus</button>}<NodeLinks graph={graph} n={n} found={found} /></p>
      {state !== "known" && <p class="gapnote"><b>{state}</b>{why ? `: ${why}` : ""} {reason && <code>{reason}</code>}{own.detail && <span class="block">{visible(own.detail)}</span>}</p>}
      {own.text && <p class="text">{visible(own.text)}</p>}
      {own.sql && <><h3>Expression</h3><Sql text={own.sql} label="SQL expression" /></>}
      {!isRaw && found && <Ends graph={graph} title="Comes from" items={[...values, ...claimed]} onShow={onShow} target={c} empty={state === "known" ? graph.core.none : "not known"} />}
      <Ends graph={graph} title="Used by" items={uses} onShow={onShow} isDown empty="no traced column" source={c} />
      {decided.length > 0 && <Ends graph={graph} title="Decided by" items={decided} onShow={onShow} />}
      {found?.rows?.length > 0 && <Ends graph={graph} title="Its rows are decided by" items={found.rows} onShow={onShow} />}
      {also.length > 0 && <Ends graph={graph} title="Decides" items={also} onShow={onShow} isDown />}
      {own.tests?.length > 0 && <><h3>Tests</h3><p class="badges">{own.tests.map((t, i) => <span key={i} class="badge">{visible(t)}</span>)}</p></>}
      <Facts found={found} />
    </>
  );
}

function Ends({ graph, title, items, onShow, empty, isDown, target, source }) {
  const [all, setAll] = useState(false);
  const sorted = [...items].sort((a, b) => kindOf(a[1]) - kindOf(b[1]));
  const listed = all ? sorted : sorted.slice(0, LISTED);
  return (
    <>
      <h3>{title}{items.length > 1 && <span class="quiet"> {items.length.toLocaleString("en")}</span>}</h3>
      {!items.length && <p class="quiet">{empty}</p>}
      <ul class="ends">
        {listed.map(([other, code, third, field, sql], i) => {
          const isRows = other === null, node = isRows ? third : graph.owner[other];
          const said = source !== undefined && !isRows ? graph.claims(source, other) : target !== undefined ? graph.claims(other, target) : [];
          const ops = Array.isArray(third) ? third.filter(([, kind]) => kind !== "identity") : [];
          return (
            <li key={i}>
              <button type="button" class="plain" onClick={() => onShow(isRows ? { node } : { node, column: other })}>
                <bdi class="quiet"><Name text={graph.labels[node]} /></bdi><span class="quiet">.<wbr /></span><bdi class="code">{isRows ? "every row" : <Name text={graph.column(other) + (field ? `.${field}` : "")} />}</bdi>
              </button>
              <span class={`kind k${Math.min(kindOf(code), 3)}${code & COMMAND ? " command" : ""}`}>{graph.core.subtypes[kindOf(code)]}</span>
              {Boolean(code & MASKED) && <span class="kind">masked</span>}
              {Boolean(code & ASSUMED) && <span class="kind warn">assumed</span>}
              {Boolean(code & STALE) && <span class="kind warn">stale</span>}
              {ops.length > 0 && <span class="ops">{ops.map(([name]) => visible(name)).join(", ")}</span>}
              {said.map((p, j) => <span key={j} class="ops">{visible(p.name)} {p.stale ? "last said so" : "says so too"} {p.seen}</span>)}
              {sql && sql !== listed[i - 1]?.[4] && !/^\d+$/.test(sql) && <Sql text={sql} label="SQL expression" />}
            </li>
          );
        })}
      </ul>
      {items.length > listed.length && <button type="button" class="plain more" onClick={() => setAll(true)}>{(items.length - listed.length).toLocaleString("en")} more</button>}
    </>
  );
}

function NodeSheet({ graph, n, found, onShow, onFocus }) {
  const { state, reason, why, said } = graph.nodeState(n), kind = KINDS[graph.kinds[n]], isNative = kind === "native";
  return (
    <>
      <p class="crumb"><i class={`dot ${kind}`} />{found?.type ?? (isNative ? "raw data" : graph.ids[n].split(".")[0])}{found?.materialized && `, ${found.materialized}`}</p>
      <h2><bdi><Name text={graph.labels[n]} /></bdi></h2>
      <p class="badges">
        {!isNative && <span class={`badge ${state}`} title={why}>{said}</span>}
        {Boolean(graph.marks[n] & MATERIAL) && <span class="badge">materialized</span>}
        {found?.access && <span class="badge">{visible(found.access)}</span>}
        {found?.group && <span class="badge">group {visible(found.group)}</span>}
        {(found?.tags ?? []).map((tag) => <span key={tag} class="badge tag">{visible(tag)}</span>)}
      </p>
      <p class="actions">{onFocus && <button type="button" class="button" onClick={() => onFocus({ node: n })}>Focus</button>}<NodeLinks graph={graph} n={n} found={found} /></p>
      {state !== "known" && <p class="gapnote"><b>{said}</b>{why ? `: ${why}` : ""} {reason && said === state && <code>{reason}</code>}{found?.detail && <span class="block">{visible(found.detail)}</span>}</p>}
      {found?.remarks?.map(([r, name, detail], i) => <p key={i} class="gapnote"><code>{name || "its rows"}</code> {graph.core.reasons[r - 1]?.[1]}{detail && <span class="block">{visible(detail)}</span>}</p>)}
      {found?.text && <p class="text">{visible(found.text)}</p>}
      {found?.command && <Contract contract={found.command} />}
      {found?.rows?.length > 0 && <Ends graph={graph} title="Its rows are decided by" items={found.rows} onShow={onShow} />}
      <Columns graph={graph} n={n} found={found} onShow={onShow} onFocus={onFocus} />
      {found?.tests?.length > 0 && <><h3>Tests</h3><p class="badges">{found.tests.map((t, i) => <span key={i} class="badge">{visible(t)}</span>)}</p></>}
      {found?.native && Object.keys(found.native).length > 0 && <Native native={found.native} />}
      <Facts found={found} />
      {!isNative && !graph.details && graph.core.why && /^(model|snapshot)\./.test(graph.ids[n]) && <Why graph={graph} n={n} />}
      {!isNative && !graph.details && <Code graph={graph} n={n} />}
    </>
  );
}

function Columns({ graph, n, found, onShow, onFocus }) {
  const [all, setAll] = useState(false), count = graph.columnsOf(n), listed = all ? count : Math.min(count, COLUMNS_LISTED);
  if (!count) return null;
  return (
    <>
      <h3>Columns <span class="quiet">{count.toLocaleString("en")}</span></h3>
      <ul class="columns">
        {Array.from({ length: listed }, (_, i) => {
          const c = graph.first[n] + i, gap = graph.columnState(c).state;
          return <li key={c}><button type="button" class="plain" onClick={() => onShow({ node: n, column: c })} onDblClick={() => onFocus?.({ node: n, column: c })}><bdi class="code"><Name text={graph.column(c)} /></bdi></button><span class="quiet code">{visible(found?.columns?.[i]?.type ?? "")}</span>{gap !== "known" && <span class="kind warn">{gap}</span>}</li>;
        })}
      </ul>
      {count > listed && <button type="button" class="plain more" onClick={() => setAll(true)}>{plural(count - listed, "more column")}</button>}
    </>
  );
}

function EdgeSheet({ graph, shown, found, onShow, onFocus }) {
  const { from, to, code } = shown.edge, n = shown.node, { edges } = shown;
  const ends = (key) => [...new Map(edges.filter((e) => e[key] !== null).map((e) => [e[key], [e[key], e.code]])).values()];
  const own = to === null || to === undefined ? null : found?.columns?.[to - graph.first[n]];
  const rows = own?.edges ?? found?.rows ?? [], edge = rows.find(([s, k]) => s === from && kindOf(k) === kindOf(code));
  const ops = edge?.[2] ?? [], commands = ops.filter(([, kind]) => kind === "command").map(([name]) => name);
  const contracts = graph.core.commands?.filter(([name, contract]) => contract && commands.includes(name)) ?? [];
  return (
    <>
      <p class="crumb">{shown.isCommand ? <><i class="dot command" />command</> : "edge"}</p>
      <h2 class="code">{shown.isCommand && commands.length ? commands.map(visible).join(", ") : graph.core.subtypes[kindOf(code)]}</h2>
      <p class="badges"><span class="badge">{graph.core.subtypes[kindOf(code)]}</span>{Boolean(code & MASKED) && <span class="badge">masked</span>}<span class={`badge${code & ASSUMED ? " partial" : ""}`}>{code & ASSUMED ? "assumed" : "exact"}</span>{Boolean(code & STALE) && <span class="badge partial">stale</span>}</p>
      {onFocus && <p class="actions"><button type="button" class="button" onClick={() => onFocus({ node: n })}>Open the relation</button></p>}
      {from !== null && <Ends graph={graph} title="From" items={ends("from")} onShow={onShow} target={to} />}
      <Ends graph={graph} title="To" items={to === null ? [[null, code, n]] : ends("to")} onShow={onShow} isDown />
      {ops.length > 0 && <><h3>Operations</h3><p class="badges">{ops.map(([name, kind], i) => <span key={i} class={`badge${kind === "command" ? " tag" : ""}`} title={kind.replace("_", " ")}>{visible(name)}</span>)}</p></>}
      {(edge?.[4] || own?.sql) && <><h3>Expression</h3><Sql text={edge?.[4] || own.sql} label="SQL expression" /></>}
      {found?.command ? <Contract contract={found.command} /> : contracts.map(([name, contract]) => <Contract key={name} name={name} contract={contract} />)}
      <Facts found={found} />
    </>
  );
}

function Contract({ contract, name }) {
  return (
    <>
      <h3>Contract{name && <> of <span class="code">{visible(name)}</span></>}</h3>
      <dl class="facts">{Object.entries(contract).map(([key, value]) => <div key={key}><dt>{visible(key)}</dt><dd class="code">{visible(plain(value))}</dd></div>)}</dl>
    </>
  );
}

/** A value of YAML in one line: lists and mappings without their brackets. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, inner]) => `${key}: ${plain(inner)}`).join("; ");
  return String(value);
}

function Native({ native }) {
  return (
    <><h3>Raw data</h3>
      <dl class="facts">{Object.entries(native).map(([key, value]) => <div key={key}><dt>{visible(key.replace(/_/g, " "))}</dt><dd class="code">{visible(plain(value))}</dd></div>)}</dl></>
  );
}

function Facts({ found }) {
  if (!found) return <p class="quiet">Loading</p>;
  const facts = [["relation", found.relation, true], ["owner", found.owner], ["package", found.package], ["operation", found.operation?.replace(/_/g, " ")], ["file", found.path, true]];
  return (
    <dl class="facts">
      {facts.filter(([, value]) => value).map(([key, value, isCode]) => <div key={key}><dt>{key}</dt><dd class={isCode ? "code" : ""}>{isCode ? <Name text={value} /> : visible(value)}</dd></div>)}
      {found.producers?.length > 0 && <div><dt>{found.producers.length > 1 ? "producers" : "producer"}</dt><dd>{found.producers.map(([name, said, isStale]) => <span key={name} class="block">{visible(name)}{said && <span class="quiet">, {visible(said)}</span>}{isStale ? <span class="kind warn">stale</span> : ""}</span>)}</dd></div>}
    </dl>
  );
}

function NodeLinks({ graph, n, found }) {
  const { docs, files, repository } = graph.core, id = graph.ids[n], type = id.split(".")[0];
  const hasPage = docs && /^(model|seed|snapshot|source|exposure|metric|semantic_model)$/.test(type);
  const path = found?.path?.split("/").map(encodeURIComponent).join("/");
  const away = { target: "_blank", rel: "noreferrer noopener" };
  return (
    <>
      {hasPage && <a href={`${docs}#!/${type}/${encodeURIComponent(id)}`}>dbt docs</a>}
      {path && files && location.protocol === "file:" && <a href={`${files}/${path}`} {...away}>File</a>}
      {path && safeUrl(repository) && <a href={repository.replace("{path}", path)} {...away}>Repository</a>}
      {safeUrl(found?.url) && <a href={found.url} {...away}>Open</a>}
    </>
  );
}

/** The whole SQL of a node, loaded when it is opened. */
function Code({ graph, n }) {
  const [sql, setSql] = useState();
  const open = (e) => {
    if (e.currentTarget.open && sql === undefined) chunk(`s${Math.floor(n / graph.core.chunk)}`).then((list) => setSql(list[n % graph.core.chunk] ?? ""), () => setSql(""));
  };
  return <details class="code-of" onToggle={open}><summary>Compiled SQL</summary>{sql === undefined ? <p class="quiet">Loading</p> : sql ? <Sql text={sql} label="Compiled SQL" /> : <p class="quiet">There is none, or it may not be shown.</p>}</details>;
}
