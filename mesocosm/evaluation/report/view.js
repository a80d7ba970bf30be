"use strict";
const look = JSON.parse(document.getElementById("look").textContent);
const make = (tag, props = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.filter((child) => child !== null));
  return node;
};
const count = (number) => number.toLocaleString("en");
const most = Math.max(1, ...look.calls.map((call) => call.tokens));

const changesOf = (changes) =>
  make("div", {}, ...changes.map((one) =>
    make("div", { className: "change" },
      make("b", {}, one.table), ` +${one.added} ~${one.changed} -${one.removed}`,
      make("pre", {}, one.rows.join("\n")))));

const detailsOf = (call) =>
  make("div", { className: "details" },
    make("pre", {}, call.arguments),
    call.changes.length ? changesOf(call.changes) : null,
    make("pre", {}, call.result));

const rowOf = (call) => {
  const bar = make("span", { className: "bar" });
  bar.style.width = `${(100 * call.tokens) / most}%`;
  const row = make("tr", { className: `call ${call.status}`, tabIndex: 0 },
    make("td", {}, String(call.seq)),
    make("td", {}, call.turn === null ? "" : String(call.turn)),
    make("td", {}, (call.parent === null ? "" : "↳ ") + call.tool),
    make("td", { className: "arguments" }, call.arguments.slice(0, 160)),
    make("td", { className: "tokens" }, bar, count(call.tokens)),
    make("td", {}, call.evidence.length ? `◆ ${call.evidence.length}${call.fresh ? ` (${call.fresh} new)` : ""}` : ""),
    make("td", {}, call.changes.map((one) => `${one.table} +${one.added} ~${one.changed} -${one.removed}`).join(", ")),
    make("td", {}, call.status === "ok" ? "" : call.status));
  const toggle = () => {
    if (row.nextSibling && row.nextSibling.className === "open") { row.nextSibling.remove(); return; }
    const cell = make("td", { colSpan: 8 }, detailsOf(call));
    row.after(make("tr", { className: "open" }, cell));
  };
  row.addEventListener("click", toggle);
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
  return row;
};

const show = (id, ...children) => document.getElementById(id).replaceChildren(...children);

show("findings", ...look.findings.map((one) =>
  make("li", { className: one.passed ? "passed" : "failed" },
    make("b", {}, one.name), one.detail ? `: ${one.detail}` : "")));
show("final", changesOf(look.final));
const fill = () => {
  const only = document.getElementById("only").value;
  const shown = look.calls.filter((call) =>
    only === "all" || (only === "evidence" && call.evidence.length) ||
    (only === "changes" && call.changes.length) || (only === "errors" && call.status !== "ok"));
  show("calls", ...shown.map(rowOf));
};
document.getElementById("only").addEventListener("change", fill);
fill();

const slider = document.getElementById("turn");
const turnTo = () => {
  const turn = look.turns[Number(slider.value)];
  const taken = Object.entries(turn.removed).map(([name, tokens]) => `${name} took ${count(tokens)} tokens away`);
  document.getElementById("turn-says").textContent =
    [`turn ${turn.turn} of ${look.turns.length}: ${count(turn.context)} tokens`, ...taken].join("; ");
  const numbers = turn.shown.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at));
  show("context", ...numbers.map((number) => {
    const message = look.messages[number] || { role: "?", text: "" };
    return make("details", { className: message.role },
      make("summary", {}, `${number} ${message.role}: ${message.text.slice(0, 120)}`),
      make("pre", {}, message.text));
  }));
};
if (look.turns.length) {
  slider.max = look.turns.length - 1;
  slider.value = slider.max;
  slider.addEventListener("input", turnTo);
  turnTo();
} else {
  document.getElementById("conversation").remove();
}
