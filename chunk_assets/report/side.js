// Both sides of the page: outline, histogram, map of the vectors, and what is known of one chunk.
const colour = (index) => `hsl(${(index * 67) % 360} 65% 55%)`;

function outline(item) {
  $("outline").replaceChildren(...item.headings.map((heading) => {
    const entry = make("li", null, `l${heading.level}`);
    const button = make("button", heading.title);
    button.addEventListener("click", () => select(item.chunks.findIndex((c) => c.end_char > heading.start)));
    entry.append(button);
    return entry;
  }));
  $("outline-section").hidden = item.headings.length === 0;
}

function histogram(item) {
  const { max, min } = item.batch.limits;
  const tokens = item.chunks.map((c) => c.model_token_count);
  const top = Math.max(max, ...tokens, 1);
  const bins = new Array(32).fill(0);
  for (const count of tokens) bins[Math.min(31, Math.floor((count / top) * 32))] += 1;
  const high = Math.max(...bins, 1);
  const nodes = bins.map((count, i) => {
    const bar = draw("rect", { x: i * 8 + 1, y: 75 - (count / high) * 70, width: 7, height: (count / high) * 70 });
    const title = draw("title", {});
    title.textContent = `${count} chunks of ${Math.ceil((i * top) / 32)} to ${Math.floor(((i + 1) * top) / 32)} tokens`;
    bar.append(title);
    return bar;
  });
  nodes.push(draw("line", { class: "axis", x1: 0, x2: 260, y1: 75.5, y2: 75.5 }));
  for (const limit of [max, min].filter((value) => value > 0)) {
    const x = Math.min(258, (limit / top) * 258);
    nodes.push(draw("line", { class: "limit", x1: x, x2: x, y1: 0, y2: 75 }));
  }
  const label = draw("text", { x: 0, y: 87 });
  label.textContent = `0 to ${top} tokens of the embedder's input; limit ${max}${min ? `, minimum ${min}` : ""}`;
  $("histogram").replaceChildren(...nodes, label);
}

function map(item) {
  const points = item.batch.map;
  $("map-section").hidden = points.length < 3;
  const documentsOf = [...new Set(points.map((p) => p.document))];
  const single = documentsOf.length === 1;
  const names = single ? [...new Set(points.map((p) => p.section || "no section"))] : documentsOf;
  const place = new Map(names.map((name, index) => [name, index]));
  dots = new Map();
  const circles = points.map((point) => {
    const own = point.document === item.id;
    const name = single ? point.section || "no section" : point.document;
    const dot = draw("circle", { cx: 6 + point.x * 248, cy: 6 + point.y * 188, r: own && !single ? 4 : 2.5, fill: colour(place.get(name)) });
    const title = draw("title", {});
    title.textContent = `${point.chunk} ${point.section || ""}`;
    dot.append(title);
    dot.addEventListener("click", () => openChunk(point.document, point.chunk));
    dots.set(point.chunk, dot);
    return dot;
  });
  $("map").replaceChildren(...circles);
  $("legend").replaceChildren(...names.slice(0, 8).map((name, index) => {
    const swatch = make("i");
    swatch.style.setProperty("background", colour(index));
    const entry = make("li");
    entry.append(swatch, name);
    return entry;
  }), ...(names.length > 8 ? [make("li", `and ${names.length - 8} more`)] : []));
}

const gauge = (share, bad) => {
  const bar = make("div", null, "bar");
  const part = make("i", null, bad ? "much" : "");
  part.style.setProperty("width", `${Math.min(100, share * 100)}%`);
  bar.append(part);
  return bar;
};

function details() {
  const item = shown();
  const chunk = item.chunks[state.chunk];
  if (!chunk) {
    $("details").replaceChildren(make("h2", "Chunk"), make("p", item.chunks.length ? "Click a band, or press j." : "This document has no chunks.", "hint"));
    return;
  }
  const { max, min } = item.batch.limits;
  const few = chunk.token_count < min;
  const much = chunk.model_token_count > max;
  const list = make("dl");
  const rows = [
    ["id", chunk.chunk_id],
    ["tokens", `${chunk.token_count} in the text${min ? `, minimum ${min}` : ""}`, few],
    ["embedder", `${chunk.model_token_count} of ${max}, with context`, much],
    ["headings", chunk.heading_path.join(" › ") || "none"],
    ["pages", !chunk.page_start ? "none" : chunk.page_start === chunk.page_end ? `${chunk.page_start}` : `${chunk.page_start} to ${chunk.page_end}`],
    ["characters", `${chunk.start_char} to ${chunk.end_char}`],
    ["kind", chunk.content_kind],
    ["strategy", chunk.strategy],
    ["ends here", `${chunk.split_reason}: ${data.reasons[chunk.split_reason] || ""}`, data.inside.includes(chunk.split_reason)],
    ["overlap", chunk.overlap_chars ? `${chunk.overlap_chars} characters with the chunk before` : "none"],
    ["sha256", chunk.chunk_sha256],
  ];
  for (const [name, value, bad] of rows) list.append(make("dt", name), make("dd", value, bad ? "bad" : ""));
  const parts = [make("h2", `Chunk ${state.chunk + 1} of ${item.chunks.length}`), gauge(chunk.model_token_count / max, much), list];
  if (chunk.context) parts.push(make("h2", "Context for the embedder"), make("div", chunk.context, "context"));
  $("details").replaceChildren(...parts);
}
