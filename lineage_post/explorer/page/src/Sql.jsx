import { tokens } from "./sql.js";
import { visible } from "./text.js";

const LONGEST = 60000;

export function Sql({ text, label }) {
  const shown = text.slice(0, LONGEST);
  return (
    <pre class="sql" tabIndex={0} aria-label={label}><code>
      {tokens(shown).map(([kind, part], i) => (kind ? <span key={i} class={`t-${kind}`}>{visible(part)}</span> : visible(part)))}
      {text.length > LONGEST ? `\n... and ${(text.length - LONGEST).toLocaleString("en")} characters more` : ""}
    </code></pre>
  );
}
