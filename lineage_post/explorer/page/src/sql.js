const WORDS = new Set(("select from where group by order having qualify join left right inner outer full cross on using as with union all distinct case when then else end and or not in is null like ilike between exists over partition rows range unbounded preceding following current row filter within limit offset asc desc nulls first last interval cast lateral unnest values insert into update set delete merge create table view recursive true false pivot unpivot any some except intersect window").split(" "));
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|("(?:[^"]|"")*"|`[^`]*`|\[[^\]\n]*\])|(\b\d[\w.]*)|([A-Za-z_][\w$]*)(\s*\()?|([\s\S])/g;

/** SQL as [class, text] pairs: comment, string, name, number, word, call, or "" for the rest. */
export function tokens(sql) {
  const found = [];
  const push = (kind, text) => {
    const last = found[found.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else found.push([kind, text]);
  };
  for (const [all, comment, string, name, number, word, call] of sql.matchAll(TOKEN)) {
    if (comment) push("comment", comment);
    else if (string) push("string", string);
    else if (name) push("name", name);
    else if (number) push("number", number);
    else if (word) {
      push(WORDS.has(word.toLowerCase()) ? "word" : call ? "call" : "", word);
      if (call) push("", call);
    } else push("", all);
  }
  return found;
}
