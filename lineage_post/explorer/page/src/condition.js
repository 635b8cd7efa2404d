// What may be asked of a row: columns, literals and plain functions. The docs panel has the same rules.
const WORDS = /^(and|or|not|in|is|null|true|false|between|like|ilike|escape|case|when|then|else|end|as|date|time|timestamp|interval|integer|int|bigint|varchar|text|decimal|numeric|double|boolean)$/i;
const PIECE = /\s+|'(?:[^'\\]|'')*'|"[^"]+"|`[^`]+`|\d+(?:\.\d+)?|[A-Za-z_]\w*|<=|>=|<>|!=|\|\||::|[=<>+\-*\/%(),]/y;

/** What is wrong with a condition over `columns`; null where it may stand in the SQL. */
export function complaint(text, columns, functions) {
  const known = new Set(columns.map((name) => name.toLowerCase()));
  let depth = 0;
  if (!text.trim()) return `Write a condition over the columns, such as ${columns[0]} = 42`;
  for (PIECE.lastIndex = 0; PIECE.lastIndex < text.length;) {
    const at = PIECE.lastIndex, piece = PIECE.exec(text)?.[0];
    if (!piece || /^(--|\/\*)/.test(text.slice(at, at + 2))) return `This cannot stand in a condition: ${text.slice(at, at + 20)}`;
    if (piece === "(") depth += 1;
    if (piece === ")" && --depth < 0) return "A bracket is closed that was not opened.";
    if (/^["`]/.test(piece) && !known.has(piece.slice(1, -1).toLowerCase())) return `There is no column ${piece}`;
    if (!/^[A-Za-z_]/.test(piece)) continue;
    const name = piece.toLowerCase(), isCall = /^\s*\(/.test(text.slice(PIECE.lastIndex));
    if (isCall && functions.includes(name)) continue;
    if (!WORDS.test(name) && (isCall || !known.has(name))) return (isCall ? "Not a function of a condition: " : "There is no column ") + piece;
  }
  return depth ? "A bracket is not closed." : null;
}

/** The command that says the same on a terminal. */
export function commandOf(id, condition) {
  return `lineage-post why ${id} --where '${condition.replace(/'/g, "'\\''")}'`;
}
