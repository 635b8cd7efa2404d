// The hash: #/column/<node>/<column>?direction=up&depth=2&indirect=join,filter, or #/node/<node>.
export function toHash({ focus, direction, depth, kinds, page }, graph) {
  if (page === "statement") return "#/statement";
  if (!focus) return "#/";
  const id = encodeURIComponent(graph.ids[focus.node]);
  const path = focus.column === undefined ? `#/node/${id}` : `#/column/${id}/${encodeURIComponent(graph.column(focus.column))}`;
  const query = [];
  if (direction !== "both") query.push(`direction=${direction}`);
  if (depth) query.push(`depth=${depth}`);
  if (kinds.size) query.push(`indirect=${[...kinds].sort().map((k) => graph.core.subtypes[k].replace(" ", "_")).join(",")}`);
  return query.length ? `${path}?${query.join("&")}` : path;
}

/** What a hash asks for; `missing` names what it asks for and the project does not have. */
export function fromHash(hash, graph) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  const [, kind, ...rest] = path.split("/").map(decoded);
  const values = new URLSearchParams(query);
  const words = (values.get("indirect") ?? "").split(",").filter(Boolean);
  const kinds = new Set(words.map((w) => graph.core.subtypes.indexOf(w.replace("_", " "))).filter((k) => k > 2));
  const direction = ["up", "down"].includes(values.get("direction")) ? values.get("direction") : "both";
  const depth = Math.min(5, Math.max(0, Number.parseInt(values.get("depth") ?? "0", 10) || 0));
  const place = { focus: null, page: kind === "statement" && graph.core.served ? "statement" : null, direction, depth, kinds };
  if (kind !== "node" && kind !== "column") return place;
  const node = graph.number.get(rest[0]);
  if (node === undefined) return { ...place, missing: rest[0] };
  if (kind === "node") return { ...place, focus: { node } };
  const column = graph.find(node, rest.slice(1).join("/"));
  return { ...place, focus: { node, ...(column === undefined ? {} : { column }) }, missing: column === undefined ? rest.slice(1).join("/") : undefined };
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
