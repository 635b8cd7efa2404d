const LINES = [["value", "value"], ["indirect", "decides rows or branches"], ["command", "through a command"], ["stale", "stale claim"], ["none", "no columns flow"], ["unknown", "not available"]];
const CARDS = [["source", "source"], ["derived", "derived"], ["command", "command"], ["native", "native"], ["consumer", "consumer"]];
const RINGS = [["output", "final output"], ["material", "materialized"], ["error", "error cycle"], ["feedback", "feedback"]];

export function Legend() {
  return (
    <details class="legend">
      <summary>Legend</summary>
      <ul>
        {CARDS.map(([kind, text]) => <li key={`c${kind}`}><i class={`dot ${kind}`} />{text}</li>)}
        {RINGS.map(([kind, text]) => <li key={kind}><i class={`ring ${kind}`} />{text}</li>)}
        {LINES.map(([look, text]) => <li key={`l${look}`}><svg width="30" height="8" aria-hidden="true"><g class={`link ${look}`}><path class="line" d="M1,4L29,4" /></g></svg>{text}</li>)}
      </ul>
    </details>
  );
}
