import { render } from "preact";
import { App } from "./App.jsx";
import { chunk } from "./chunks.js";
import { Graph } from "./graph.js";
import { Search } from "./search.js";
import "./app.css";

const root = document.getElementById("root");
chunk("core").then((core) => {
  const graph = new Graph(core);
  root.textContent = "";
  document.title = `${core.project}: column lineage`;
  render(<App graph={graph} search={new Search(graph)} />, root);
}).catch((error) => {
  root.textContent = `The lineage cannot be shown: ${error.message}. Run lineage-post build again.`;
});
