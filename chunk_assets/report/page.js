"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (name) node.className = name;
    return node;
  };
  const draw = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  // Offsets in the tables count code points; strings here count UTF-16 units.
  const units = (text) => {
    if (!/[\ud800-\udbff]/.test(text)) return (at) => at;
    const at = [0];
    for (const point of text) at.push(at[at.length - 1] + point.length);
    return (index) => at[Math.min(index, at.length - 1)];
  };

  const documents = data.batches.flatMap((batch) => batch.documents.map((item) => ({ ...item, batch })));
  const filters = {
    all: ["every chunk", () => true],
    over: ["over the embedder's limit", (c, b) => c.model_token_count > b.limits.max],
    under: ["under the minimum", (c, b) => c.token_count < b.limits.min],
    overlap: ["with overlap", (c) => c.overlap_chars > 0],
    forced: ["cut inside a sentence", (c) => /oversized|word|character|token/.test(c.split_reason)],
    table: ["tables and rows", (c) => c.content_kind === "table" || c.content_kind === "row"],
    code: ["code", (c) => c.content_kind === "code"],
  };
  const state = { document: 0, chunk: -1 };
  let segments = new Map();

  const shown = () => documents[state.document];

  function fill() {
    $("title").textContent = data.title;
    documents.forEach((item, index) => {
      const option = make("option", `${item.id} (${item.chunks.length}${item.status === "ok" ? "" : ", " + item.status})`);
      option.value = String(index);
      $("document").append(option);
    });
    for (const [key, [label]] of Object.entries(filters)) {
      const option = make("option", label);
      option.value = key;
      $("filter").append(option);
    }
  }

  function show(index) {
    state.document = index;
    state.chunk = -1;
    $("document").value = String(index);
    const item = shown();
    $("state").textContent = item.status === "ok" ? `${item.file} · ${item.converter} · ${item.warnings.join("; ") || "no warnings"}`
      : `${item.file}: ${item.status}: ${item.reason}`;
    document.body.classList.toggle("compare", Boolean(item.batch.compared));
    segments = paint($("text"), item.markdown, item.chunks.map((c) => [c.start_char, c.end_char]), null);
    if (item.batch.compared) {
      paint($("other"), item.markdown, item.compared, new Set(item.chunks.map((c) => c.start_char)));
    }
    outline(item);
    histogram(item);
    map(item);
    apply();
    $("text").scrollTop = 0;
    details();
  }

  // The text in pieces, cut wherever a chunk starts or ends; a piece in two chunks is their overlap.
  function paint(target, text, spans, before) {
    const at = units(text);
    const found = new Map(spans.map((_, index) => [index, []]));
    const events = [];
    spans.forEach(([start, end], index) => events.push([start, 1, index], [end, 0, index]));
    events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const fragment = document.createDocumentFragment();
    const open = new Set();
    let last = 0;
    const put = (from, to) => {
      if (to <= from) return;
      const piece = make("span", text.slice(at(from), at(to)), open.size ? `s s${Math.max(...open) % 4}` : "");
      if (open.size > 1) piece.classList.add("over");
      const starts = [...open].filter((index) => spans[index][0] === from);
      if (starts.length) piece.classList.add(before && !before.has(from) ? "moved" : "start");
      piece.dataset.chunks = [...open].join(" ");
      for (const index of open) found.get(index).push(piece);
      fragment.append(piece);
    };
    for (const [place, kind, index] of events) {
      put(last, place);
      last = Math.max(last, place);
      if (kind) open.add(index); else open.delete(index);
    }
    put(last, [...text].length);
    target.replaceChildren(fragment);
    return found;
  }

  function outline(item) {
    $("outline").replaceChildren(...item.headings.map((heading) => {
      const entry = make("li", null, `l${heading.level}`);
      const button = make("button", heading.title);
      button.addEventListener("click", () => select(item.chunks.findIndex((c) => c.end_char > heading.start)));
      entry.append(button);
      return entry;
    }));
  }

  function histogram(item) {
    const { max, min } = item.batch.limits;
    const tokens = item.chunks.map((c) => c.model_token_count);
    const top = Math.max(max, ...tokens, 1);
    const bins = new Array(26).fill(0);
    for (const count of tokens) bins[Math.min(25, Math.floor((count / top) * 26))] += 1;
    const high = Math.max(...bins, 1);
    const nodes = bins.map((count, i) => draw("rect", { x: i * 10 + 1, y: 75 - (count / high) * 70, width: 8, height: (count / high) * 70 }));
    for (const limit of [max, min].filter((value) => value > 0)) {
      const x = (limit / top) * 260;
      nodes.push(draw("line", { class: "limit", x1: x, x2: x, y1: 0, y2: 75 }));
    }
    const label = draw("text", { x: 0, y: 87 });
    label.textContent = `0 to ${top} tokens of the embedder's input; limit ${max}`;
    $("histogram").replaceChildren(...nodes, label);
  }

  const colour = (index) => `hsl(${(index * 67) % 360} 65% 55%)`;

  function map(item) {
    const points = item.batch.map;
    $("map-section").hidden = points.length < 3;
    const names = [...new Set(points.map((p) => p.document))];
    const sections = [...new Set(points.filter((p) => p.document === item.id).map((p) => p.section))];
    $("map").replaceChildren(...points.map((point) => {
      const own = point.document === item.id;
      const hue = names.length === 1 ? sections.indexOf(point.section) : names.indexOf(point.document);
      const dot = draw("circle", { cx: 6 + point.x * 248, cy: 6 + point.y * 188, r: own ? 4 : 2.5, fill: colour(hue) });
      dot.dataset.chunk = point.chunk;
      const title = draw("title", {});
      title.textContent = `${point.chunk} ${point.section || ""}`;
      dot.append(title);
      dot.addEventListener("click", () => open(point.document, point.chunk));
      return dot;
    }));
  }

  function open(name, chunk) {
    const index = documents.findIndex((item) => item.id === name);
    if (index !== state.document) show(index);
    select(shown().chunks.findIndex((c) => c.chunk_id === chunk));
  }

  const matches = (chunk, item, words) => !words
    || item.markdown.slice(...[chunk.start_char, chunk.end_char].map(units(item.markdown))).toLowerCase().includes(words)
    || chunk.chunk_id.toLowerCase().includes(words) || chunk.chunk_sha256.startsWith(words);

  function apply() {
    const item = shown();
    const words = $("search").value.trim().toLowerCase();
    const [, test] = filters[$("filter").value || "all"];
    const wanted = item.chunks.map((chunk) => test(chunk, item.batch) && matches(chunk, item, words));
    for (const piece of $("text").children) {
      const inside = piece.dataset.chunks ? piece.dataset.chunks.split(" ").map(Number) : [];
      piece.classList.toggle("dim", inside.length > 0 && !inside.some((index) => wanted[index]));
    }
    item.wanted = wanted;
    $("count").textContent = `${wanted.filter(Boolean).length} of ${item.chunks.length} chunks`;
    if (words) select(wanted.indexOf(true));
  }

  function select(index) {
    if (index < 0 || index >= shown().chunks.length) return;
    for (const piece of segments.get(state.chunk) || []) piece.classList.remove("on");
    state.chunk = index;
    const pieces = segments.get(index) || [];
    for (const piece of pieces) piece.classList.add("on");
    if (pieces.length) pieces[0].scrollIntoView({ block: "center" });
    for (const dot of $("map").children) dot.classList.toggle("on", dot.dataset.chunk === shown().chunks[index].chunk_id);
    details();
  }

  function step(by) {
    const { wanted, chunks } = shown();
    for (let next = state.chunk + by; next >= 0 && next < chunks.length; next += by) {
      if (wanted[next]) return select(next);
    }
    return undefined;
  }

  function details() {
    const item = shown();
    const chunk = item.chunks[state.chunk];
    if (!chunk) {
      $("details").replaceChildren(make("h2", "Chunk"), make("p", item.chunks.length ? "Click a band, or press j." : "This document has no chunks.", "hint"));
      return;
    }
    const { max } = item.batch.limits;
    const bar = make("div", null, "bar");
    const fillBar = make("i");
    fillBar.style.setProperty("width", `${Math.min(100, (chunk.model_token_count / max) * 100)}%`);
    bar.append(fillBar);
    const list = make("dl");
    const rows = [
      ["id", chunk.chunk_id],
      ["tokens", `${chunk.token_count} in the text`],
      ["embedder", `${chunk.model_token_count} of ${max} with context`],
      ["characters", `${chunk.start_char} to ${chunk.end_char}`],
      ["pages", chunk.page_start ? `${chunk.page_start} to ${chunk.page_end}` : "none"],
      ["headings", chunk.heading_path.join(" › ") || "none"],
      ["kind", chunk.content_kind],
      ["strategy", chunk.strategy],
      ["ends because", chunk.split_reason],
      ["overlap", `${chunk.overlap_chars} characters`],
      ["sha256", chunk.chunk_sha256],
    ];
    for (const [name, value] of rows) {
      const over = name === "embedder" && chunk.model_token_count > max;
      list.append(make("dt", name), make("dd", value, over ? "bad" : ""));
    }
    const parts = [make("h2", `Chunk ${state.chunk + 1} of ${item.chunks.length}`), bar, list];
    if (chunk.context) parts.push(make("h2", "Context for the embedder"), make("div", chunk.context, "context"));
    $("details").replaceChildren(...parts);
  }

  fill();
  $("document").addEventListener("change", (event) => show(Number(event.target.value)));
  $("filter").addEventListener("change", apply);
  $("search").addEventListener("input", apply);
  $("text").addEventListener("click", (event) => {
    const inside = event.target.dataset.chunks;
    if (inside) select(Number(inside.split(" ").pop()));
  });
  $("text").addEventListener("mouseover", (event) => {
    const index = event.target.dataset.chunks ? Number(event.target.dataset.chunks.split(" ").pop()) : -1;
    const chunk = shown().chunks[index];
    event.target.title = chunk ? `${chunk.chunk_id}: ${chunk.token_count} tokens, ${chunk.model_token_count} for the embedder` : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const actions = {
      j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
      n: () => show(Math.min(documents.length - 1, state.document + 1)),
      p: () => show(Math.max(0, state.document - 1)),
      "/": () => $("search").focus(),
      Escape: () => { $("search").value = ""; apply(); },
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  });
  if (documents.length) show(0);
})();
