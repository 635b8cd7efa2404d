import { useMemo, useState } from "preact/hooks";
import { Canvas } from "./Canvas.jsx";
import { Details } from "./Details.jsx";
import { scene } from "./scene.js";
import { statementGraph } from "./statement.js";
import { plural, visible } from "./text.js";
import { walk } from "./walk.js";

export function Statement({ graph }) {
  const [sql, setSql] = useState(""), [dialect, setDialect] = useState(""), [answer, setAnswer] = useState(null), [error, setError] = useState(null), [isBusy, setBusy] = useState(false);
  const ask = async (e) => {
    e?.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const response = await fetch("lineage/graph", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ sql, dialect: dialect.trim() || null }) });
      const found = await response.json();
      if (response.ok) setAnswer(found);
      else { setAnswer(null); setError(told(found.detail)); }
    } catch (problem) {
      setError(`The server does not answer: ${problem.message}`);
    }
    setBusy(false);
  };
  return (
    <main class="statement">
      <form onSubmit={ask} aria-label="Statement">
        <label for="sql">SQL</label>
        <textarea id="sql" spellcheck={false} value={sql} placeholder="select ..." onInput={(e) => setSql(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) ask(e); }} />
        <div class="line"><label for="dialect">Dialect</label><input id="dialect" value={dialect} placeholder={graph.core.adapter} onInput={(e) => setDialect(e.currentTarget.value)} /><button type="submit" class="button" disabled={isBusy || !sql.trim()}>Show its lineage</button></div>
        {error && <p class="gapnote" role="alert">{visible(error)}</p>}
        {answer && <p class="quiet" role="status">{answer.state}: {plural(answer.outputs.length, "output column")}{answer.unknowns?.length ? `, ${plural(answer.unknowns.length, "unknown")}` : ""}</p>}
        {answer?.unknowns?.map((u, i) => <p key={i} class="gapnote"><code>{u.reason}</code> {visible(u.column ?? "")} {visible(u.detail ?? "")}</p>)}
      </form>
      {answer ? <Drawn answer={answer} core={graph.core} /> : <p class="hint">The statement is traced against the columns of this project, and not run.</p>}
    </main>
  );
}

function told(detail) {
  if (Array.isArray(detail)) return detail.map((d) => d.message).join("; ");
  if (typeof detail === "string") return detail;
  const where = detail?.line ? `Line ${detail.line}, column ${detail.column}: ` : "";
  return `${where}${detail?.message ?? "no answer"}${detail?.hint ? ` ${detail.hint}` : ""}`;
}

function Drawn({ answer, core }) {
  const graph = useMemo(() => statementGraph(answer, core), [answer]);
  const [shown, setShown] = useState(null), [open, setOpen] = useState(new Map());
  const picture = useMemo(() => {
    const kinds = new Set([3, 4, 5, 6, 7, 8]);
    return { ...scene(walk(graph, { node: graph.target }, { depth: 2, kinds }), { openAll: true, open }), depth: 2 };
  }, [graph, open]);
  return (
    <div class={`stage${shown ? " with-sheet" : ""}`} onKeyDown={(e) => { if (e.key === "Escape") setShown(null); }}>
      <section class="work"><Canvas graph={graph} picture={picture} shown={shown} onShow={setShown} onFocus={null} onToggle={(n, how) => setOpen(new Map(open).set(n, how))} onExpand={() => undefined} /></section>
      {shown && <Details graph={graph} shown={shown} onShow={setShown} onFocus={null} onClose={() => setShown(null)} hasIndirect />}
    </div>
  );
}
