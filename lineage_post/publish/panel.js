// The column-lineage panel of dbt's docs site. Every name, reason and expression becomes a text node:
// nothing here builds HTML from a string.
(function () {
  "use strict";
  var LINKS = 8, ROWS = 60, MASKED = 16, ASSUMED = 32;
  var MARK = "[//]: # (lineage_post)";
  var UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  var NODE = { id: 0, label: 1, state: 2, reason: 3, detail: 4, columns: 5, rows: 6, unread: 7 };
  var COLUMN = { name: 0, state: 1, reason: 2, expression: 3, edges: 4 };
  var data = null, number = new Map(), uses = new Map(), blind = new Map();
  var indirect = false, wanted = null;

  function unpack() {
    var holder = document.getElementById("lineage-post-data");
    if (holder.dataset.encoding !== "gzip") return Promise.resolve(JSON.parse(holder.textContent));
    if (typeof DecompressionStream === "undefined") {
      return Promise.reject(new Error("this browser cannot unpack it (DecompressionStream is missing)"));
    }
    var bytes = Uint8Array.from(atob(holder.textContent), function (c) { return c.charCodeAt(0); });
    var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  function keep(map, key, value) {
    var list = map.get(key);
    if (list) list.push(value); else map.set(key, [value]);
  }

  // Turns the edges around: "node/column" -> what uses it, and node -> its readers of unknown columns.
  function index(document_) {
    data = document_;
    data.nodes.forEach(function (node, n) {
      number.set(node[NODE.id], n);
      (node[NODE.columns] || []).forEach(function (column, c) {
        (column[COLUMN.edges] || []).forEach(function (e) { keep(uses, e[0] + "/" + e[1], [n, c, e[2], e[3]]); });
      });
      (node[NODE.rows] || []).forEach(function (e) { keep(uses, e[0] + "/" + e[1], [n, null, e[2], e[3]]); });
      (node[NODE.unread] || []).forEach(function (parent) { keep(blind, parent, n); });
    });
  }

  function el(tag, className, children) {
    var made = document.createElement(tag);
    if (className) made.className = className;
    [].concat(children === undefined ? [] : children).forEach(function (child) {
      if (child !== null) made.append(child);
    });
    return made;
  }

  function attributes(element, values) {
    Object.keys(values).forEach(function (key) { element.setAttribute(key, values[key]); });
    return element;
  }

  function button(className, text, onclick) {
    var made = attributes(el("button", className, text), { type: "button" });
    made.addEventListener("click", function () { onclick(made); });
    return made;
  }

  function visible(text) {
    return String(text).replace(UNSEEN, function (c) {
      return "(U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + ")";
    });
  }

  function plural(n, noun) { return n.toLocaleString("en") + " " + noun + (n === 1 ? "" : "s"); }

  function address(id) {
    var kind = id.split(".")[0];
    return /^(model|seed|snapshot|source)$/.test(kind) ? "#!/" + kind + "/" + encodeURIComponent(id) : null;
  }

  function columnName(n, c) {
    if (typeof c === "string") return c;
    return data.nodes[n][NODE.columns][c][COLUMN.name];
  }

  // One end of an edge: [node, column, code, field], as a link that opens the node's page at the column.
  function end(e) {
    var node = data.nodes[e[0]], href = address(node[NODE.id]);
    var name = e[1] === null ? null : columnName(e[0], e[1]) + (e[3] ? "." + e[3] : "");
    var text = [el("bdi", "", visible(node[NODE.label]))];
    if (name === null) text.push(el("span", "lp-none", " (every row)"));
    else text.push(el("span", "lp-dot", "."), el("bdi", "lp-column", visible(name)));
    var link = el(href ? "a" : "span", "", text);
    if (href) {
      link.href = href;
      link.addEventListener("click", function () { wanted = { node: e[0], column: e[1] }; });
    }
    var marks = [];
    if (e[2] & MASKED) marks.push(mark("masked", "passes through a hashing or redaction function"));
    if (e[2] & ASSUMED) marks.push(mark("assumed", "more than is certain: the exact columns are not known"));
    return el("span", "lp-link", [link].concat(marks));
  }

  function mark(text, title) {
    return el("span", "", [" ", attributes(el("span", "lp-mark", text), { title: title })]);
  }

  function subtype(code) { return data.subtypes[code & 15]; }
  function isDirect(e) { return (e[2] & 15) < 3; }

  // The list, cut at `limit` with a button that shows the rest.
  function capped(items, limit, make, host) {
    items.slice(0, limit).forEach(function (item) { host.append(make(item), " "); });
    if (items.length <= limit) return host;
    host.append(button("lp-more", "+" + (items.length - limit).toLocaleString("en") + " more", function (me) {
      var rest = items.slice(limit).map(make);
      me.replaceWith.apply(me, rest);
      var first = rest[0] && (rest[0].querySelector("a, button") || rest[0]);
      if (first && first.focus) first.focus();
    }));
    return host;
  }

  // Edges grouped by what they do: a badge, then links.
  function groups(edges) {
    var bySubtype = new Map();
    edges.slice().sort(function (a, b) { return (a[2] & 15) - (b[2] & 15); })
      .forEach(function (e) { keep(bySubtype, e[2] & 15, e); });
    var made = el("div", "lp-groups");
    bySubtype.forEach(function (list, kind) {
      var word = data.subtypes[kind];
      made.append(el("span", "lp-badge lp-" + (kind < 3 ? word : "indirect"), word));
      made.append(capped(unique(list), LINKS, end, el("div", "lp-links")));
    });
    return made;
  }

  function unique(edges) {
    var seen = new Set();
    return edges.filter(function (e) {
      var key = JSON.stringify(e);
      return !seen.has(key) && seen.add(key);
    });
  }

  function gap(state, reason, detail) {
    if (!state) return null;
    var known = reason ? data.reasons[reason - 1] : null;
    var parts = [el("strong", "", state === 2 ? "unknown" : "partly known")];
    if (known) parts.push(": " + known[1] + " ", el("code", "", known[0]));
    if (detail) parts.push(el("div", "lp-none", visible(detail)));
    return el("div", "lp-gap", parts);
  }

  function comesFrom(column) {
    var edges = column[COLUMN.edges] || [], direct = edges.filter(isDirect);
    var cell = el("td", "", groups(indirect ? edges : direct));
    var missing = gap(column[COLUMN.state], column[COLUMN.reason]);
    if (missing) cell.append(missing);
    else if (!direct.length) cell.prepend(el("div", "lp-none lp-known-none", nothing(edges.length)));
    return cell;
  }

  function nothing(hidden) {
    return hidden && !indirect ? data.none + "; " + plural(hidden, "indirect influence") : data.none;
  }

  function usedBy(n, c) {
    var found = uses.get(n + "/" + c) || [];
    var shown = indirect ? found : found.filter(isDirect);
    if (shown.length) return el("td", "", groups(shown));
    if (found.length) return el("td", "", el("div", "lp-none", "value not used; " + plural(found.length, "indirect use")));
    var dash = attributes(el("span", "", "\u2013"), { "aria-hidden": "true" });
    return el("td", "", el("div", "lp-none", [dash, el("span", "lp-sr", "no traced column")]));
  }

  function nameCell(n, c, column) {
    var shown = visible(column[COLUMN.name]);
    var opener = attributes(button("lp-opener", el("bdi", "lp-name", shown), function (me) { toggleGraph(me, n, c); }),
      { "aria-expanded": "false", "aria-label": shown + ": draw its lineage", title: "Draw its lineage" });
    var line = el("div", "lp-name-line", opener);
    if (column[COLUMN.expression]) {
      line.append(attributes(button("lp-more lp-sql", "SQL", function (me) { toggleSql(me, column); }),
        { "aria-expanded": "false", "aria-label": "SQL of " + visible(column[COLUMN.name]) }));
    }
    return attributes(el("th", "", line), { scope: "row" });
  }

  // The expression stands in a row of its own below the column's, made on demand.
  function toggleSql(me, column) {
    var row = me.closest("tr"), open = me.getAttribute("aria-expanded") === "true";
    me.setAttribute("aria-expanded", String(!open));
    row.classList.toggle("lp-open", !open);
    if (open) { below(row, "lp-sql-row").remove(); return; }
    var code = el("pre", "lp-expression", visible(column[COLUMN.expression]));
    row.after(el("tr", "lp-sql-row", attributes(el("td", "", code), { colspan: row.children.length })));
  }

  // What was opened below the row of a column.
  function below(row, className) {
    var next = row.nextElementSibling;
    while (!next.classList.contains(className)) next = next.nextElementSibling;
    return next;
  }

  // The small graph of a column, in a row of its own below the column's.
  function toggleGraph(me, n, c) {
    var row = me.closest("tr"), open = me.getAttribute("aria-expanded") === "true";
    me.setAttribute("aria-expanded", String(!open));
    if (open) {
      below(row, "lp-graph-row").remove();
      return;
    }
    row.after(el("tr", "lp-graph-row", attributes(el("td", "", graphOf(n, c)), { colspan: row.children.length })));
  }

  // Five boxes side by side fit into the width that the page gives to a table.
  var BOX = { width: 122, height: 46, across: 30, down: 10 }, HOPS = 2, LEVEL = 6;

  function sources(n, c) {
    var column = typeof c === "number" ? data.nodes[n][NODE.columns][c] : null;
    return (column && column[COLUMN.edges]) || [];
  }

  // Boxes by their distance from the column, those at hand first, and the edges between them.
  function around(n, c) {
    var seen = new Map(), levels = new Map(), edges = [], left = { up: 0, down: 0 };
    function place(m, d, hop) {
      var key = m + "/" + d;
      if (seen.has(key)) return key;
      var level = levels.get(hop) || [];
      if (level.length >= LEVEL) { left[hop < 0 ? "up" : "down"] += 1; return null; }
      level.push({ key: key, node: m, column: d });
      levels.set(hop, level);
      seen.set(key, hop);
      return key;
    }
    function go(way) {
      var front = [[n, c]];
      for (var hop = 1; hop <= HOPS; hop++) {
        var next = [];
        front.forEach(function (at) {
          var list = way < 0 ? sources(at[0], at[1]) : uses.get(at[0] + "/" + at[1]) || [];
          list.slice().sort(function (a, b) { return (a[2] & 15) - (b[2] & 15); }).forEach(function (e) {
            if (!isDirect(e) && hop > 1) return;
            var known = seen.has(e[0] + "/" + e[1]), key = place(e[0], e[1], way * hop), own = at[0] + "/" + at[1];
            if (key === null || (known && seen.get(key) * way < seen.get(own) * way)) return;
            edges.push(way < 0 ? [key, own, e[2]] : [own, key, e[2]]);
            if (!known && isDirect(e)) next.push([e[0], e[1]]);
          });
        });
        front = next;
      }
    }
    place(n, c, 0);
    go(-1);
    go(1);
    return { levels: levels, edges: edges, left: left };
  }

  function svg(tag, values) { return attributes(document.createElementNS("http://www.w3.org/2000/svg", tag), values); }

  function graphOf(n, c) {
    var found = around(n, c), hops = Array.from(found.levels.keys()).sort(function (a, b) { return a - b; }), at = new Map();
    var tall = Math.max.apply(null, hops.map(function (hop) { return found.levels.get(hop).length; }));
    var height = tall * (BOX.height + BOX.down) - BOX.down, width = hops.length * (BOX.width + BOX.across) - BOX.across;
    var plane = el("div", "lp-plane"), lines = svg("svg", { width: width, height: height, "aria-hidden": "true" });
    plane.style.width = width + "px";
    plane.style.height = height + "px";
    plane.append(lines);
    hops.forEach(function (hop, i) {
      var level = found.levels.get(hop), top = (height - level.length * (BOX.height + BOX.down) + BOX.down) / 2;
      level.forEach(function (item, j) {
        var x = i * (BOX.width + BOX.across), y = top + j * (BOX.height + BOX.down);
        at.set(item.key, [x, y + BOX.height / 2]);
        plane.append(box(item, x, y, hop === 0));
      });
    });
    found.edges.forEach(function (e) {
      var a = at.get(e[0]), b = at.get(e[1]), x = a[0] + BOX.width, bend = Math.max(24, (b[0] - x) / 2);
      var line = svg("path", { d: "M" + x + "," + a[1] + "C" + (x + bend) + "," + a[1] + " " + (b[0] - bend) + "," + b[1] + " " + b[0] + "," + b[1],
        "class": "lp-line " + (isDirect([0, 0, e[2]]) ? "lp-value" : "lp-decides") });
      line.append(svg("title", {}));
      line.firstChild.textContent = subtype(e[2]);
      lines.append(line);
    });
    return el("div", "lp-drawing", [el("div", "lp-scroll", plane), remarks(n, c, found)]);
  }

  function box(item, x, y, isOwn) {
    var node = data.nodes[item.node], href = isOwn ? null : address(node[NODE.id]);
    var name = item.column === null ? "every row" : columnName(item.node, item.column);
    var made = el(href ? "a" : "span", "lp-box" + (isOwn ? " lp-own" : "") + (node[NODE.state] ? " lp-unsure" : ""),
      [el("bdi", "lp-box-node", visible(node[NODE.label])), el("bdi", "lp-column", visible(name))]);
    made.title = visible(node[NODE.label] + "." + name);
    made.style.left = x + "px";
    made.style.top = y + "px";
    if (href) {
      made.href = href;
      made.addEventListener("click", function () { wanted = { node: item.node, column: item.column }; });
    }
    return made;
  }

  function remarks(n, c, found) {
    var legend = [el("span", "lp-key lp-key-value", "value"), el("span", "lp-key lp-key-decides", "decides rows or branches")];
    var cut = found.left.up + found.left.down;
    if (cut) legend.push(el("span", "lp-none", plural(cut, "more column") + " not drawn"));
    var line = el("div", "lp-remarks", legend), name = data.nodes[n][NODE.columns][c][COLUMN.name];
    explorer.then(function (home) {
      if (!home) return;
      var link = el("a", "lp-explore", "Open in the explorer");
      link.href = home + "#/column/" + encodeURIComponent(data.nodes[n][NODE.id]) + "/" + encodeURIComponent(name);
      line.append(link);
    });
    return line;
  }

  // The explorer beside this page, where it was written and came along; null where it did not.
  var explorer = new Promise(function (resolve) {
    var script = document.createElement("script");
    script.src = "lineage_post/explorer/here.js";
    script.onload = function () { resolve(window.lineagePostExplorer ? "lineage_post/explorer/index.html" : null); };
    script.onerror = function () { resolve(null); };
    document.head.append(script);
  });

  function row(n, c, hasSources) {
    var column = data.nodes[n][NODE.columns][c];
    var cells = [nameCell(n, c, column), hasSources ? comesFrom(column) : null, usedBy(n, c)];
    return attributes(el("tr", "", cells), { "data-column": c });
  }

  function table(n, hasSources, filter) {
    var columns = data.nodes[n][NODE.columns] || [], found = [];
    columns.forEach(function (column, c) {
      if (!filter || column[COLUMN.name].toLowerCase().indexOf(filter) >= 0) found.push(c);
    });
    var heads = ["Column"].concat(hasSources ? ["Comes from"] : [], ["Used by"]);
    var body = el("tbody"), foot = el("div", "lp-foot");
    var first = wanted && wanted.node === n ? found.length : ROWS;
    found.slice(0, first).forEach(function (c) { body.append(row(n, c, hasSources)); });
    if (found.length > first) {
      foot.append(button("lp-more", "Show all " + plural(found.length, "column"), function (me) {
        found.slice(first).forEach(function (c) { body.append(row(n, c, hasSources)); });
        me.remove();
      }));
    }
    if (!found.length) foot.append(el("span", "lp-none", filter ? "No column matches." : "No columns are known."));
    var head = el("thead", "", el("tr", "", heads.map(function (text) {
      return attributes(el("th", "", text), { scope: "col" });
    })));
    var caption = el("caption", "lp-sr", "Where each column comes from and what uses it");
    return [el("div", "lp-scroll", el("table", "", [caption, head, body])), foot];
  }

  function summary(n) {
    var node = data.nodes[n], columns = node[NODE.columns] || [];
    var known = columns.filter(function (c) { return !c[COLUMN.state]; }).length;
    var meter = el("span", "lp-meter", el("i"));
    meter.firstChild.style.width = (columns.length ? 100 * known / columns.length : 0) + "%";
    meter.setAttribute("aria-hidden", "true");
    return el("div", "lp-summary", [meter, known.toLocaleString("en") + " of " + plural(columns.length, "column") + " known"]);
  }

  function indirectCount(n) {
    var node = data.nodes[n], count = (node[NODE.rows] || []).length;
    (node[NODE.columns] || []).forEach(function (column, c) {
      var edges = (column[COLUMN.edges] || []).concat(uses.get(n + "/" + c) || []);
      count += edges.filter(function (e) { return !isDirect(e); }).length;
    });
    return count;
  }

  function notes(n) {
    var node = data.nodes[n], made = [];
    var missing = gap(node[NODE.state], node[NODE.reason], node[NODE.detail]);
    if (missing) { missing.className = "lp-note lp-node-gap"; made.push(missing); }
    var readers = blind.get(n) || [];
    if (readers.length) {
      var list = el("span");
      capped(readers, LINKS, function (r) {
        var href = address(data.nodes[r][NODE.id]), label = visible(data.nodes[r][NODE.label]);
        var link = el(href ? "a" : "span", "", el("bdi", "", label));
        if (href) link.href = href;
        return link;
      }, list);
      var said = readers.length === 1 ? "A reader whose columns are not all known may use any column: "
        : "Readers whose columns are not all known may use any column: ";
      made.push(el("div", "lp-note lp-readers", [said, list]));
    }
    var stale = staleness();
    if (stale) made.push(el("div", "lp-note lp-stale", stale));
    return made;
  }

  // The panel and the manifest beside it come from one invocation, or the page says that they do not.
  function staleness() {
    var id = metadata().invocation_id;
    if (!id || !data.invocation || id === data.invocation) return null;
    return "This lineage was traced from an earlier manifest" +
      (data.generated ? " (" + data.generated + ")" : "") + ". Run dbt docs generate again to refresh it.";
  }

  // What the site's manifest says of itself; undefined while it loads, empty where the site hides it.
  function metadata() {
    try {
      var project = angular.element(document.body).injector().get("project");
      return project.files.manifest.metadata;
    } catch (error) { return {}; }
  }

  function everyRow(n) {
    var rows = data.nodes[n][NODE.rows] || [];
    if (!indirect || !rows.length) return null;
    return el("div", "lp-rows", [el("strong", "", "Decide the rows, and so touch every column"), groups(rows)]);
  }

  // -- Why is this row there? The SQL to copy, with the reader's own condition in it.

  var WORDS = /^(and|or|not|in|is|null|true|false|between|like|ilike|escape|case|when|then|else|end|as|date|time|timestamp|interval|integer|int|bigint|varchar|text|decimal|numeric|double|boolean)$/i;
  var PIECE = /\s+|'(?:[^'\\]|'')*'|"[^"]+"|`[^`]+`|\d+(?:\.\d+)?|[A-Za-z_]\w*|<=|>=|<>|!=|\|\||::|[=<>+\-*\/%(),]/y;

  // What is wrong with a condition, null where it is made of columns, literals and plain functions alone.
  function complaint(text, columns) {
    var known = new Set(columns.map(function (name) { return name.toLowerCase(); })), depth = 0;
    if (!text.trim()) return "Write a condition over the columns, such as " + columns[0] + " = 42";
    for (PIECE.lastIndex = 0; PIECE.lastIndex < text.length;) {
      var at = PIECE.lastIndex, found = PIECE.exec(text), piece = found && found[0];
      if (!piece || /^(--|\/\*)/.test(text.slice(at, at + 2))) return "This cannot stand in a condition: " + text.slice(at, at + 20);
      if (piece === "(") depth += 1;
      if (piece === ")" && --depth < 0) return "A bracket is closed that was not opened.";
      if (/^["`]/.test(piece) && !known.has(piece.slice(1, -1).toLowerCase())) return "There is no column " + piece;
      if (!/^[A-Za-z_]/.test(piece)) continue;
      var name = piece.toLowerCase(), isCall = /^\s*\(/.test(text.slice(PIECE.lastIndex));
      if (isCall && data.why.functions.indexOf(name) >= 0) continue;
      if (!WORDS.test(name) && (isCall || !known.has(name))) return (isCall ? "Not a function of a condition: " : "There is no column ") + piece;
    }
    return depth ? "A bracket is not closed." : null;
  }

  function quoted(text) { return "'" + text.replace(/'/g, "'\\''") + "'"; }

  function whyBox(n) {
    var id = data.nodes[n][NODE.id], made = ((data.why || {}).models || {})[id];
    if (!/^(model|snapshot)\./.test(id) || !data.why) return null;
    var columns = made && made.columns || (data.nodes[n][NODE.columns] || []).map(function (c) { return c[COLUMN.name]; });
    var input = attributes(el("input", "lp-filter lp-condition"), { type: "text", spellcheck: "false",
      placeholder: (columns[0] || "id") + " = 42", "aria-label": "Condition that picks rows" });
    var said = attributes(el("div", "lp-none"), { role: "status" });
    var sql = attributes(el("textarea", "lp-sql"), { readonly: "", rows: 10, "aria-label": "SQL to copy" });
    var command = attributes(el("input", "lp-sql"), { type: "text", readonly: "", "aria-label": "Command to copy" });
    function fill() {
      var wrong = complaint(input.value, columns);
      sql.hidden = copy.hidden = Boolean(wrong) || !(made && made.sql);
      command.hidden = Boolean(wrong);
      said.textContent = wrong ? visible(wrong) : made && made.refusal ? "This model is not rewritten: " + visible(made.refusal) : "";
      if (wrong) { sql.value = command.value = ""; return; }
      // A function: `$&` in a condition is no pattern.
      if (made && made.sql) sql.value = made.sql.replace(data.why.placeholder, function () { return input.value; });
      command.value = "lineage-post why " + id + " --where " + quoted(input.value);
    }
    var copy = button("lp-more", "Copy SQL", function (me) {
      sql.select();
      try { if (document.execCommand("copy")) me.textContent = "Copied"; } catch (error) { return; }
    });
    input.addEventListener("input", function () { copy.textContent = "Copy SQL"; fill(); });
    fill();
    return el("details", "lp-why", [el("summary", "", "Why is this row there?"),
      el("p", "lp-none", "Gives the SQL that names the source rows of each stored row; run it on your warehouse. It only reads."),
      input, said, sql, copy, command]);
  }

  function panel(n) {
    var hasSources = !/^(source|seed)\./.test(data.nodes[n][NODE.id]);
    var host = el("div", "panel-body lp"), body = el("div"), top = el("div", "lp-top", summary(n)), filter = "";
    function draw() {
      body.replaceChildren.apply(body, [everyRow(n)].filter(Boolean).concat(table(n, hasSources, filter)));
    }
    if ((data.nodes[n][NODE.columns] || []).length > 20) {
      var input = attributes(el("input", "lp-filter"), { type: "search", placeholder: "Filter columns", "aria-label": "Filter columns" });
      input.addEventListener("input", function () { filter = input.value.trim().toLowerCase(); draw(); });
      top.append(input);
    }
    var count = indirectCount(n);
    if (count) {
      top.append(attributes(button("lp-switch", "Indirect influences (" + count.toLocaleString("en") + ")", function (me) {
        indirect = !indirect;
        me.setAttribute("aria-checked", String(indirect));
        draw();
      }), { role: "switch", "aria-checked": String(indirect), title: "Joins, filters, grouping, sorting, windows and conditions" }));
    }
    explorer.then(function (home) {
      if (!home) return;
      var link = el("a", "lp-explore", "Explorer");
      link.href = home + "#/node/" + encodeURIComponent(data.nodes[n][NODE.id]);
      top.append(link);
    });
    draw();
    host.append.apply(host, [top].concat(notes(n), [body, whyBox(n)].filter(Boolean)));
    return host;
  }

  function current() {
    var match = /^#!\/(?:model|seed|snapshot|source)\/([^?#]+)/.exec(location.hash);
    return match ? number.get(decodeURIComponent(match[1])) : undefined;
  }

  function section(content) {
    var heading = el("h6", "", "Column lineage"), target = el("div", "section-target");
    target.id = "column_lineage";
    var made = el("section", "section", [target, el("div", "section-content", [heading, el("div", "panel", content)])]);
    made.id = "lineage-post-panel";
    return made;
  }

  function addTab(view) {
    var tab = view.querySelector('.nav-tabs a[href$="#columns"]');
    if (!tab) return;
    var link = el("a", "", "Column Lineage"), item = el("li", "lp-tab", link);
    link.href = tab.getAttribute("href").replace(/#columns$/, "#column_lineage");
    tab.parentNode.after(item);
  }

  function reveal(made, n) {
    if (!wanted || wanted.node !== n) return;
    var found = made.querySelector('tr[data-column="' + wanted.column + '"]');
    wanted = null;
    setTimeout(function () {
      (found || made).scrollIntoView({ block: "center" });
      if (found) found.classList.add("lp-hit");
    }, 60);
  }

  // Collapsed rows of the site's own column table show raw Markdown: show the words only.
  function tidy() {
    document.querySelectorAll("column-details tr.column-row td:nth-child(3) > span").forEach(function (cell) {
      var text = cell.textContent, at = text.indexOf(MARK);
      if (at < 0) return;
      var own = text.slice(0, at).trim();
      var block = text.slice(at).replace(/\[\/\/\]: # \([^)]*\)/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replace(/\*\*|`/g, "").replace(/&#(\d+);/g, function (all, code) { return String.fromCharCode(code); });
      var words = own || block.replace(/\s+/g, " ").trim();
      if (cell.firstChild && cell.firstChild.nodeType === 3) cell.firstChild.nodeValue = visible(words);
    });
  }

  function render() {
    tidy();
    var anchor = document.getElementById("columns"), old = document.getElementById("lineage-post-panel");
    var n = current();
    if (metadata() === undefined) return;
    if (!anchor || n === undefined) { if (old) old.remove(); return; }
    if (old && old.dataset.node === String(n)) return;
    if (old) old.remove();
    var made = section(panel(n));
    made.dataset.node = String(n);
    anchor.closest("section").after(made);
    if (!document.querySelector(".lp-tab")) addTab(document);
    reveal(made, n);
  }

  // The site's search shows names, descriptions and SQL as HTML. Let only its own highlighting through.
  function harden() {
    angular.module("dbt").config(["$provide", function ($provide) {
      $provide.decorator("$sce", ["$delegate", function ($delegate) {
        var trust = $delegate.trustAsHtml;
        $delegate.trustAsHtml = function (html) { return trust.call($delegate, onlySpans(html)); };
        return $delegate;
      }]);
    }]);
  }

  function onlySpans(html) {
    if (typeof html !== "string" || !/<(?!\/span>|span class="[\w -]*">)/.test(html)) return html;
    var holder = document.createElement("template");
    holder.innerHTML = html;
    (function walk(parent) {
      Array.from(parent.childNodes).forEach(function (child) {
        if (child.nodeType === 3) return;
        if (child.nodeType !== 1 || child.localName !== "span") {
          child.replaceWith(document.createTextNode(child.outerHTML || ""));
          return;
        }
        Array.from(child.attributes).forEach(function (a) { if (a.name !== "class") child.removeAttribute(a.name); });
        walk(child);
      });
    })(holder.content);
    return holder.innerHTML;
  }

  function start() {
    var pending = false;
    function soon() {
      if (pending) return;
      pending = true;
      requestAnimationFrame(function () { pending = false; render(); });
    }
    new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
    window.addEventListener("hashchange", soon);
    soon();
  }

  try { harden(); } catch (error) { console.warn("lineage_post: search results are not hardened", error); }
  unpack().then(function (found) { index(found); start(); }).catch(function (error) {
    console.error("lineage_post: the column lineage cannot be shown:", error);
  });
})();
