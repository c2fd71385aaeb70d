"use strict";
// The middle of the page: the text of a document in coloured pieces.
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
  if (!/[\ud800-\udbff]/.test(text)) return (at) => Math.min(at, text.length);
  const at = [0];
  for (const point of text) at.push(at[at.length - 1] + point.length);
  return (index) => at[Math.min(index, at.length - 1)];
};

function compare(item, spans) {
  document.body.classList.toggle("compare", Boolean(item.batch.compared));
  if (!item.batch.compared) return;
  paint($("other"), item, item.compared, spans);
  const before = new Set(spans.map((span) => span[0]));
  const kept = item.compared.filter((span) => before.has(span[0])).length;
  $("text-head").textContent = `published: ${spans.length} chunks, ${spans.length - kept} starts not kept`;
  $("other-head").textContent = `${item.batch.compared}: ${item.compared.length} chunks, ${item.compared.length - kept} new starts`;
}

// The text in pieces, cut wherever a chunk starts or ends; a piece in two chunks is their overlap.
function paint(target, item, spans, others) {
  const elsewhere = others && new Set(others.map((span) => span[0]));
  const found = new Map(spans.map((_, index) => [index, []]));
  const events = [];
  spans.forEach(([start, end], index) => events.push([start, 1, index], [end, 0, index]));
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const fragment = document.createDocumentFragment();
  const open = new Set();
  let last = 0;
  const put = (from, to) => {
    const text = item.markdown.slice(item.at(from), item.at(to));
    if (!text) return;
    const piece = make("span", text, open.size ? `s s${Math.max(...open) % 4}` : "");
    if (open.size > 1) piece.classList.add("over");
    if ([...open].some((index) => spans[index][0] === from)) {
      piece.classList.add(elsewhere && !elsewhere.has(from) ? "moved" : "start");
    }
    piece.dataset.chunks = [...open].join(" ");
    for (const index of open) found.get(index).push(piece);
    fragment.append(piece);
  };
  for (const [place, kind, index] of events) {
    put(last, place);
    last = Math.max(last, place);
    if (kind) open.add(index); else open.delete(index);
  }
  put(last, Infinity);
  target.replaceChildren(fragment);
  return found;
}

// The words that were searched for, marked without touching the pieces.
function highlight(item) {
  if (!window.Highlight) return;
  const words = $("search").value.trim();
  CSS.highlights.delete("found");
  if (!words) return;
  const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&"), "giu");
  const ranges = [];
  for (const piece of $("text").children) {
    for (const match of piece.textContent.matchAll(pattern)) {
      if (ranges.length >= 5000) break;
      const range = document.createRange();
      range.setStart(piece.firstChild, match.index);
      range.setEnd(piece.firstChild, match.index + match[0].length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
