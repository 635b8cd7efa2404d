import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { KINDS } from "./graph.js";
import { visible } from "./text.js";

/** So many are listed; drawn at once are those in sight, the rest when the typing rests. */
const LIMIT = 40, IN_SIGHT = 16, REST = 200;

export function Header({ graph, search, onPick, onHome, onStatement, page }) {
  return (
    <header class="top">
      <button type="button" class="brand" onClick={onHome} title="Overview">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M5 6h4c5 0 3 12 8 12h2M5 18h4c2 0 2.600-2 3.100-4" /><circle cx="4" cy="6" r="2.200" /><circle cx="4" cy="18" r="2.200" /><circle cx="20" cy="18" r="2.200" /></svg>
        <bdi>{visible(graph.core.project)}</bdi>
      </button>
      <SearchBox graph={graph} search={search} onPick={onPick} />
      <nav class="links">
        {graph.core.served && <button type="button" aria-current={page === "statement" ? "page" : undefined} onClick={onStatement}>Paste SQL</button>}
        {graph.core.docs && <a href={graph.core.docs}>dbt docs</a>}
        <Theme />
      </nav>
    </header>
  );
}

function SearchBox({ graph, search, onPick }) {
  const [text, setText] = useState(""), [at, setAt] = useState(0), [isOpen, setOpen] = useState(false), [isWhole, setWhole] = useState(true);
  const input = useRef(), list = useRef();
  const found = useMemo(() => search.find(text, LIMIT), [text, search]);
  const isListed = isOpen && text.trim() !== "", listed = isWhole || at >= IN_SIGHT - 1 ? found.items : found.items.slice(0, IN_SIGHT);

  useEffect(() => {
    if (isWhole) return undefined;
    const timer = setTimeout(() => setWhole(true), REST);
    return () => clearTimeout(timer);
  }, [text, isWhole]);
  useEffect(() => {
    const key = (e) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
      if ((e.key === "/" && !isTyping) || (e.key === "k" && (e.ctrlKey || e.metaKey))) {
        e.preventDefault();
        input.current.focus();
        input.current.select();
      }
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  useEffect(() => { list.current?.children[at]?.scrollIntoView({ block: "nearest" }); }, [at]);

  const pick = (item) => {
    setOpen(false);
    input.current.blur();
    onPick(item.column === undefined ? { node: item.node } : { node: graph.owner[item.column], column: item.column });
  };
  const key = (e) => {
    const last = found.items.length - 1;
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, last));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter" && found.items[at]) pick(found.items[at]);
    else if (e.key === "Escape") { if (text) setText(""); else input.current.blur(); } else return;
    e.preventDefault();
  };
  return (
    <div class="search" role="search">
      <input ref={input} id="search" type="text" role="combobox" aria-label="Search models and columns" aria-expanded={isListed} aria-controls="found" aria-autocomplete="list"
        aria-activedescendant={isListed && found.items.length ? `found-${at}` : undefined} autocomplete="off" spellcheck={false} placeholder="Search models and columns" value={text}
        onInput={(e) => { setText(e.currentTarget.value); setAt(0); setOpen(true); setWhole(false); }} onFocus={() => setOpen(true)} onBlur={() => setTimeout(() => setOpen(false), 120)} onKeyDown={key} />
      <kbd aria-hidden="true">/</kbd>
      {isListed && (
        <div class="found">
          <p role="status">{found.total ? `${found.total.toLocaleString("en")} found${found.total > found.items.length ? `, the first ${found.items.length} shown` : ""}` : "Nothing has this name."}</p>
          <ul id="found" role="listbox" aria-label="Found" ref={list}>
            {listed.map((item, i) => (
              <li key={item.column === undefined ? `n${item.node}` : item.column} id={`found-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => { e.preventDefault(); pick(item); }} onMouseMove={() => i !== at && setAt(i)}>
                <Found graph={graph} item={item} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** What a node is, where it is not a model as most are. */
function typeOf(graph, n) {
  const type = graph.ids[n].split(".")[0];
  return type === "model" ? "" : type.replace("_", " ");
}

export function Found({ graph, item }) {
  const node = item.column === undefined ? item.node : graph.owner[item.column];
  const kind = KINDS[graph.kinds[node]];
  return (
    <>
      <i class={`dot ${kind}`} aria-hidden="true" />
      {item.column === undefined ? (
        <><bdi class="strong">{visible(graph.labels[node])}</bdi><span class="quiet">{typeOf(graph, node)}</span></>
      ) : (
        <><bdi class="code">{visible(graph.column(item.column))}</bdi><bdi class="quiet">{visible(graph.labels[node])}</bdi></>
      )}
    </>
  );
}

function Theme() {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    try { localStorage.setItem("lineage_post_theme", theme); } catch { /* Storage may be off. */ }
  }, [theme]);
  const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return <button type="button" class="icon" aria-pressed={isDark} aria-label="Dark colours" title="Light or dark" onClick={() => setTheme(isDark ? "light" : "dark")}>{isDark ? "\u2600" : "\u263e"}</button>;
}

function stored() {
  try { return localStorage.getItem("lineage_post_theme") ?? ""; } catch { return ""; }
}
