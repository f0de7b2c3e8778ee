// The page of a composite: the text is checked while it is written, the builder's fields are made into text. The server
// reads and draws; here is only what is on the screen.

import { nodes } from "./live.js";

const proof = document.body.dataset.proof;
const byId = (id) => document.getElementById(id);
const [text, wrong, warnings, pattern, newest] = ["text", "wrong", "warnings", "pattern", "newest"].map(byId);
const shapes = byId("shapes");
const PAUSE = 400; // milliseconds without a key before the text is tried on events
let turn = 0; // only the newest question's answer counts
let waiting = 0;

async function ask(address, body) {
  const headers = { "Content-Type": "application/json", "X-Form-Proof": proof };
  const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error("The service cannot answer this now.");
  return answer.json();
}

function say(place, className, lines) {
  place.replaceChildren(...lines.map((told) => Object.assign(document.createElement("p"), { className, textContent: told })));
}

/** Checks what is written, or what the builder's fields say, which then is written. */
async function check(given) {
  const mine = ++turn;
  clearTimeout(waiting);
  let told;
  try {
    told = await ask("/pages/composite", given);
  } catch (problem) {
    if (mine === turn) say(wrong, "wrong", [problem.message]);
    return;
  }
  if (mine !== turn) return;
  if (given.fields) text.value = told.text;
  say(wrong, "wrong", told.error ? [told.error.told] : []);
  if (told.error?.picture) wrong.append(Object.assign(document.createElement("pre"), { className: "caret", textContent: told.error.picture }));
  text.toggleAttribute("aria-invalid", Boolean(told.error));
  say(warnings, "notice", told.warnings ?? []);
  if (told.error || told.empty) newest.replaceChildren();
  if (told.empty) pattern.replaceChildren();
  if (!told.pattern) return;
  pattern.replaceChildren(...nodes(told.pattern));
  waiting = setTimeout(() => count(mine), PAUSE);
}

async function count(mine) {
  const told = await ask("/pages/composite/count", { text: text.value }).catch(() => null);
  if (told?.newest !== undefined && mine === turn) newest.replaceChildren(...nodes(told.newest));
}

/** Only the fields that the shape has; `data-when` is the channel's. */
function fit() {
  const shape = byId("shape").value;
  for (const part of shapes.querySelectorAll("[data-shapes]")) part.hidden = !part.dataset.shapes.split(" ").includes(shape);
}

function fields() {
  return Object.fromEntries([...shapes.querySelectorAll("[name]:not(button, [type=checkbox]:not(:checked))")].map((one) => [one.name, one.value]));
}

let typing = 0;
text.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => check({ text: text.value }), 200);
});
byId("shape").addEventListener("change", fit);
byId("build").addEventListener("click", (event) => {
  event.preventDefault();
  check({ fields: fields() });
});
fit();
if (text.value.trim()) check({ text: text.value });
