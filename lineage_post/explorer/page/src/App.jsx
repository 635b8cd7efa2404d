import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { Canvas } from "./Canvas.jsx";
import { chunk } from "./chunks.js";
import { Details } from "./Details.jsx";
import { Header } from "./Header.jsx";
import { Home } from "./Home.jsx";
import { fromHash, toHash } from "./place.js";
import { scene } from "./scene.js";
import { Statement } from "./Statement.jsx";
import { Toolbar } from "./Toolbar.jsx";
import { easyDepth, walk } from "./walk.js";

export function App({ graph, search }) {
  const [place, setPlace] = useState(() => fromHash(location.hash, graph));
  const [shown, setShown] = useState(() => sheetOf(place));
  const [view, setView] = useState({ open: new Map(), openAll: false, expanded: [] });
  const hasIndirect = useIndirect(graph, place.kinds.size > 0);

  useEffect(() => {
    const follow = () => arrive(fromHash(location.hash, graph));
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, [graph]);

  const arrive = useCallback((next) => {
    setPlace((before) => {
      if (!same(before.focus, next.focus) || before.page !== next.page) {
        setShown(sheetOf(next));
        setView((v) => ({ ...v, open: new Map(), expanded: [] }));
      }
      return next;
    });
  }, []);

  const go = useCallback((change) => {
    const next = { ...place, page: null, missing: undefined, ...change };
    const hash = toHash(next, graph);
    if (hash !== location.hash) history.pushState(null, "", hash);
    arrive(next);
  }, [place, graph]);
  const focus = useCallback((at) => go({ focus: at, depth: 0 }), [go]);

  const picture = useMemo(() => {
    if (!place.focus) return null;
    const options = { direction: place.direction, kinds: hasIndirect ? place.kinds : new Set(), expanded: view.expanded };
    const depth = place.depth || easyDepth(graph, place.focus, options);
    return { ...scene(walk(graph, place.focus, { ...options, depth }), view), depth };
  }, [graph, place.focus, place.direction, place.depth, place.kinds, hasIndirect, view]);

  const toggle = useCallback((n, how) => setView((v) => ({ ...v, open: new Map(v.open).set(n, how) })), []);
  const expand = useCallback((n, way) => setView((v) => ({ ...v, expanded: [...v.expanded, `${n}:${way}`] })), []);

  return (
    <div class="app">
      <Header graph={graph} search={search} onPick={focus} onHome={() => go({ focus: null, depth: 0 })} onStatement={() => go({ focus: null, page: "statement" })} page={place.page} />
      {graph.core.incomplete && <p class="notice incomplete" role="note">This lineage is incomplete: {graph.core.incomplete}.</p>}
      {place.page === "statement" ? <Statement graph={graph} /> : !place.focus ? (
        <Home graph={graph} onPick={focus} missing={place.missing} />
      ) : (
        <div class={`stage${shown ? " with-sheet" : ""}`} onKeyDown={(e) => { if (e.key === "Escape") setShown(null); }}>
          <section class="work" aria-label="Lineage">
            <Toolbar graph={graph} place={place} picture={picture} view={view} go={go} setView={setView} />
            <Canvas graph={graph} picture={picture} shown={shown} onShow={setShown} onFocus={focus} onToggle={toggle} onExpand={expand} />
          </section>
          {shown && <Details graph={graph} shown={shown} onShow={setShown} onFocus={focus} onClose={() => setShown(null)} hasIndirect={hasIndirect} />}
        </div>
      )}
    </div>
  );
}

/** Indirect edges come in a file of their own, after the picture stands. */
function useIndirect(graph, isWanted) {
  const [has, setHas] = useState(Boolean(graph.indirect));
  useEffect(() => {
    if (graph.indirect) return setHas(true);
    const load = () => chunk("indirect").then((found) => {
      if (!graph.indirect) graph.addIndirect(found);
      setHas(true);
    });
    if (isWanted) { load(); return undefined; }
    const timer = setTimeout(load, 1500);
    return () => clearTimeout(timer);
  }, [graph, isWanted]);
  return has;
}

function sheetOf({ focus }) {
  if (!focus) return null;
  return focus.column === undefined ? { node: focus.node } : { column: focus.column, node: focus.node };
}

function same(a, b) { return a?.node === b?.node && a?.column === b?.column; }
