import { useEffect, useState } from "preact/hooks";
import { chunk } from "./chunks.js";
import { commandOf, complaint } from "./condition.js";
import { visible } from "./text.js";

/** "Why is this row there?": SQL to copy, with the reader's own condition in it. */
export function Why({ graph, n }) {
  const { why, chunk: size } = graph.core, id = graph.ids[n], part = Math.floor(n / size);
  const [made, setMade] = useState(), [isOpen, setOpen] = useState(false), [condition, setCondition] = useState("");
  useEffect(() => {
    if (!isOpen) return;
    // A server makes it when it is asked for; a page from disk has what was made with it.
    if (graph.core.served) fetch(`lineage/why?node=${encodeURIComponent(id)}`).then((r) => (r.ok ? r.json() : null)).then(setMade, () => setMade(null));
    else if (!why.chunks.includes(part)) setMade(null);
    else chunk(`w${part}`).then((list) => setMade(list[n % size] ?? null), () => setMade(null));
  }, [isOpen, n]);
  const own = Array.from({ length: graph.columnsOf(n) }, (_, i) => graph.column(graph.first[n] + i));
  const columns = made?.columns ?? own, wrong = isOpen && made !== undefined ? complaint(condition, columns, why.functions) : null;
  // A function: `$&` in a condition is no pattern.
  const sql = made?.sql && !wrong ? made.sql.replace(why.placeholder, () => condition) : null;
  return (
    <details class="why" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Why is this row there?</summary>
      {isOpen && made === undefined && <p class="quiet">Loading</p>}
      {isOpen && made !== undefined && (
        <>
          <p class="quiet">Gives the SQL that names the source rows of each stored row; run it on your warehouse. It only reads.</p>
          <input type="text" class="code" value={condition} spellcheck={false} autocomplete="off" placeholder={`${columns[0] ?? "id"} = 42`} aria-label="Condition that picks rows" onInput={(e) => setCondition(e.currentTarget.value)} />
          <p role="status" class="quiet">{wrong ? visible(wrong) : made?.refusal ? `This model is not rewritten: ${visible(made.refusal)}` : made ? "" : "The SQL is made together with the docs site. This command gives it too."}</p>
          {sql && <Copied label="SQL" text={sql} rows={10} />}
          {!wrong && <Copied label="command" text={commandOf(id, condition)} rows={2} />}
        </>
      )}
    </details>
  );
}

/** Text to copy as it is: what is copied is the text itself, not what is drawn of it. */
function Copied({ label, text, rows }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [text]);
  const copy = (e) => {
    const area = e.currentTarget.parentElement.querySelector("textarea");
    area.select();
    // The clipboard of a page from disk is not to be had otherwise.
    try { setCopied(document.execCommand("copy")); } catch { setCopied(false); }
  };
  return (
    <div class="copied">
      <textarea class="sql" readOnly rows={rows} value={text} spellcheck={false} aria-label={`${label} to copy`} />
      <button type="button" class="plain more" onClick={copy}>{isCopied ? "Copied" : `Copy ${label}`}</button>
    </div>
  );
}
