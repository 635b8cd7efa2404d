const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text with the marks that one cannot see, such as those that turn the direction, spelled out. */
export function visible(text) {
  return String(text).replace(UNSEEN, (c) => `(U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")})`);
}

export function plural(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** A link that may be followed: http, https and mailto only. */
export function safeUrl(url) {
  return /^(https?:\/\/|mailto:)/i.test(url ?? "") ? url : null;
}

/** A long name without its middle: models of a kind begin alike, and differ at the end. */
export function shortened(name, most = 24) {
  return name.length > most ? `${name.slice(0, 8)}\u2026${name.slice(9 - most)}` : name;
}
