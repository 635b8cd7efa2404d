// The answer of the server on a statement, in the form that the core file has.
import { ASSUMED, COMMAND, Graph, MASKED } from "./graph.js";

const SUBTYPES = ["IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN", "FILTER", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL"];

export function statementGraph(answer, core) {
  const byId = new Map(answer.nodes.map((node) => [node.id, node]));
  const columns = answer.nodes.filter((node) => node.kind !== "command");
  const relations = [...new Set(columns.map((node) => node.relation))];
  if (!relations.length) relations.push("result");
  const listed = relations.map((relation) => columns.filter((node) => node.relation === relation && node.column !== null));
  const number = new Map(listed.flat().map((node, c) => [node.id, c]));
  const at = new Map(relations.map((relation, n) => [relation, n]));
  const target = at.get(byId.get(answer.outputs[0])?.relation) ?? 0;
  const flat = listed.flat(), names = [...new Set(flat.map((node) => node.column))];
  const isCommand = (id) => byId.get(id)?.kind === "command";
  /** The columns that come in at `id`, with the commands they passed; a command may take several. */
  const origins = (id, on = []) => (isCommand(id) ? answer.edges.filter((e) => e.target === id).flatMap((e) => origins(e.source, [byId.get(id).relation, ...on])) : [[id, on]]);
  const called = [...new Set(answer.nodes.filter((node) => node.kind === "command").map((node) => node.relation))], passed = [], seen = new Set();
  const values = [], indirect = [], rows = [], details = relations.map((_, n) => ({ columns: listed[n].map((node) => ({ sql: node.expression, edges: [] })), rows: [] }));
  for (const edge of answer.edges) for (const [source, on] of isCommand(edge.target) ? [] : origins(edge.source)) {
    const key = `${source} ${edge.target} ${edge.transform} ${on}`;
    if (on.length && seen.has(key)) continue;
    seen.add(key);
    const from = number.get(source), code = SUBTYPES.indexOf(edge.transform) | (edge.masking ? MASKED : 0) | (edge.certainty === "assumed" ? ASSUMED : 0) | (on.length ? COMMAND : 0);
    const told = [from, code, edge.ops.map((op) => [op.name, op.kind]), 0, edge.expression];
    const to = number.get(edge.target), n = at.get(byId.get(edge.target).relation);
    if (to === undefined) { rows.push([n, from, code]); details[n].rows.push(told); continue; }
    passed.push(...on.map((command) => [to, from, called.indexOf(command)]));
    ((code & 15) < 3 ? values : indirect).push([to, from, code]);
    details[n].columns[to - listed.slice(0, n).reduce((sum, l) => sum + l.length, 0)].edges.push(told);
  }
  const graph = new Graph({
    ...core, ids: relations, labels: relations, docs: null, claims: [], gaps: [], why: null, commands: called.map((name) => [name, core.commands?.find(([known]) => known === name)?.[1] ?? null]), through: passed,
    kinds: relations.map((_, n) => (n === target ? 1 : 0)).join(""), marks: relations.map((_, n) => (n === target ? 2 : 0)),
    states: relations.map((_, n) => (n === target ? ["known", "partial", "unknown"].indexOf(answer.state) : 0)),
    counts: listed.map((l) => l.length), names, columns: flat.map((node) => names.indexOf(node.column)), edges: packed(values), cycles: [],
    tables: relations.map((_, n) => (n === target ? relations.map((_r, m) => m).filter((m) => m !== target).map((m) => 3 * m + 1) : [])),
  });
  graph.addIndirect({ edges: packed(indirect), rows: packed(rows) });
  graph.details = details;
  graph.target = target;
  return graph;
}

function packed(edges) {
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [edges.map(([to], i) => to - (i ? edges[i - 1][0] : 0)), edges.map(([to, from]) => to - from), edges.map((e) => e[2])];
}
