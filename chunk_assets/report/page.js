// What is shown, what is wanted, and what keys and clicks do.
const documents = data.batches.flatMap((batch) => batch.documents.map((item) => ({ ...item, batch, at: units(item.markdown) })));
const filters = {
  all: ["every chunk", () => true],
  over: ["over the embedder's limit", (c, b) => c.model_token_count > b.limits.max],
  under: ["under the minimum", (c, b) => c.token_count < b.limits.min],
  forced: ["cut inside a sentence or row", (c) => data.inside.includes(c.split_reason)],
  overlap: ["with overlap", (c) => c.overlap_chars > 0],
  table: ["tables and rows", (c) => c.content_kind === "table" || c.content_kind === "row"],
  code: ["code", (c) => c.content_kind === "code"],
};
const state = { document: 0, chunk: -1 };
let segments = new Map();
let dots = new Map();

const shown = () => documents[state.document];

function fill() {
  $("title").textContent = data.title;
  documents.forEach((item, index) => {
    const option = make("option", `${item.id} (${item.chunks.length}${item.status === "ok" ? "" : ", " + item.status})`);
    option.value = String(index);
    $("document").append(option);
  });
  for (const [key, [label, test]] of Object.entries(filters)) {
    const number = documents.reduce((sum, item) => sum + item.chunks.filter((c) => test(c, item.batch)).length, 0);
    const option = make("option", `${label} (${number})`);
    option.value = key;
    $("filter").append(option);
  }
}

function show(index) {
  state.document = index;
  state.chunk = -1;
  $("document").value = String(index);
  const item = shown();
  const whole = item.status === "ok";
  $("state").textContent = whole ? `${item.file} · ${item.converter} · ${item.warnings.join("; ") || "no warnings"}`
    : `${item.file}: ${item.status}: ${item.reason}`;
  $("state").classList.toggle("bad", !whole);
  const spans = item.chunks.map((c) => [c.start_char, c.end_char]);
  segments = paint($("text"), item, spans, item.batch.compared ? item.compared : null);
  compare(item, spans);
  outline(item);
  histogram(item);
  map(item);
  apply();
  $("text").scrollTop = 0;
  details();
}

function openChunk(name, chunk) {
  const index = documents.findIndex((item) => item.id === name);
  if (index < 0) return;
  if (index !== state.document) show(index);
  select(shown().chunks.findIndex((c) => c.chunk_id === chunk));
}

const texts = (item) => {
  item.texts ??= item.chunks.map((c) => item.markdown.slice(item.at(c.start_char), item.at(c.end_char)).toLowerCase());
  return item.texts;
};

function wantedOf(item) {
  const words = $("search").value.trim().toLowerCase();
  const [, test] = filters[$("filter").value || "all"];
  return item.chunks.map((chunk, index) => test(chunk, item.batch) && (!words || texts(item)[index].includes(words)
    || chunk.chunk_id.toLowerCase().includes(words) || chunk.chunk_sha256.startsWith(words)));
}

const narrowed = () => $("search").value.trim() !== "" || ($("filter").value || "all") !== "all";

function apply() {
  const item = shown();
  const wanted = wantedOf(item);
  for (const piece of $("text").children) {
    const inside = piece.dataset.chunks ? piece.dataset.chunks.split(" ").map(Number) : [];
    piece.classList.toggle("dim", inside.length > 0 && !inside.some((index) => wanted[index]));
  }
  item.wanted = wanted;
  const elsewhere = narrowed() ? documents.reduce((sum, other) => sum + (other === item ? 0 : wantedOf(other).filter(Boolean).length), 0) : 0;
  $("count").textContent = `${wanted.filter(Boolean).length} of ${item.chunks.length} chunks${elsewhere ? `, ${elsewhere} in other documents` : ""}`;
  highlight(item);
}

function select(index) {
  if (index < 0 || index >= shown().chunks.length) return;
  for (const piece of segments.get(state.chunk) || []) piece.classList.remove("on");
  if (state.chunk >= 0) dots.get(shown().chunks[state.chunk].chunk_id)?.classList.remove("on");
  state.chunk = index;
  const pieces = segments.get(index) || [];
  for (const piece of pieces) piece.classList.add("on");
  if (pieces.length) pieces[0].scrollIntoView({ block: "center" });
  dots.get(shown().chunks[index].chunk_id)?.classList.add("on");
  details();
}

// The next chunk that is wanted; with a search or filter, on into the documents after and before.
function step(by) {
  const { wanted, chunks } = shown();
  for (let next = state.chunk + by; next >= 0 && next < chunks.length; next += by) {
    if (wanted[next]) return select(next);
  }
  if (!narrowed()) return undefined;
  for (let other = state.document + by; other >= 0 && other < documents.length; other += by) {
    const there = wantedOf(documents[other]);
    const found = by > 0 ? there.indexOf(true) : there.lastIndexOf(true);
    if (found >= 0) {
      show(other);
      return select(found);
    }
  }
  return undefined;
}

const chunkAt = (event) => (event.target.dataset.chunks ? Number(event.target.dataset.chunks.split(" ").pop()) : -1);

fill();
$("document").addEventListener("change", (event) => show(Number(event.target.value)));
$("filter").addEventListener("change", apply);
$("search").addEventListener("input", () => { apply(); select(shown().wanted.indexOf(true)); });
$("text").addEventListener("click", (event) => select(chunkAt(event)));
$("text").addEventListener("mouseover", (event) => {
  const chunk = shown().chunks[chunkAt(event)];
  event.target.title = chunk ? `${chunk.chunk_id}: ${chunk.token_count} tokens, ${chunk.model_token_count} for the embedder` : "";
});
// Both columns hold the same text, so that they scroll as one.
$("text").addEventListener("scroll", () => { $("other").scrollTop = $("text").scrollTop; });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Enter") step(1);
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const actions = {
    j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    n: () => show(Math.min(documents.length - 1, state.document + 1)),
    p: () => show(Math.max(0, state.document - 1)),
    "/": () => $("search").focus(),
    Escape: () => { $("search").value = ""; $("filter").value = "all"; apply(); },
  };
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
});
if (documents.length) show(0); else $("state").textContent = "Nothing has been published yet.";
