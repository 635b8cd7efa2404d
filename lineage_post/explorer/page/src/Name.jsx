import { visible } from "./text.js";

/** A name, which may break into lines after its underscores and dots and nowhere else. */
export function Name({ text }) {
  const parts = visible(text).match(/[^_.]*[_.]+|[^_.]+/g) ?? [];
  return parts.flatMap((part, i) => (i ? [<wbr key={i} />, part] : [part]));
}
