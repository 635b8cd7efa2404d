// Data files are scripts that hand over one text, so that they load from disk and from any host.
const texts = new Map(), waiting = new Map(), asked = new Map();

globalThis.lineagePost = (name, text) => {
  texts.set(name, text);
  waiting.get(name)?.();
};

export async function unpack(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the data; a browser of 2023 or later can");
  }
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** The content of a data file, loaded once. */
export function chunk(name) {
  if (!asked.has(name)) asked.set(name, load(name));
  return asked.get(name);
}

function load(name) {
  return new Promise((resolve, reject) => {
    waiting.set(name, () => unpack(texts.get(name)).then(resolve, reject));
    const script = document.createElement("script");
    script.src = `data/${name}.js`;
    script.onerror = () => {
      asked.delete(name);
      reject(new Error(`data/${name}.js cannot be loaded`));
    };
    document.head.append(script);
  });
}
