// The builder of filters: rows and text, kept in step. The server reads and prints; here is only what is on the screen.

import { COMPUTED, drawComputed, drawPath, make } from "./fields.js";
import { nodes } from "./live.js";

const proof = document.body.dataset.proof;
const byId = (id) => document.getElementById(id);
const [text, groups, builder] = [byId("text"), byId("groups"), byId("builder")];
const [wrong, warnings, count, onlyText] = [byId("wrong"), byId("warnings"), byId("count"), byId("only-text")];
const newest = byId("newest"); // events that the filter would have matched; where events are searched there is none, nor a count
const isNeeded = text.required; // a search may have no filter

let offered = new Map(); // attribute -> what the server says of it
let grouped = []; // their names by event type
let rows = { join: "or", groups: [[{}]] };
let turn = 0; // only the newest question's answer counts
let counting = null;
let waiting = 0;
let unread = false; // rows were changed and their text has not come back yet: the old text must not be saved
let sendAfter = false; // somebody wants to save meanwhile
let held = null; // what the rows must not be saved with: at which row, what is said there, whether it is on the screen

const ENDED = "Your session has ended, so rows cannot be read. Log in in another tab, or continue in the text: when you save, you are asked to log in, and the text is kept.";
const SILENT = "The service is not responding.";

async function ask(address, body, signal) {
  const headers = { "Content-Type": "application/json", "X-Form-Proof": proof };
  let answer, told;
  try {
    answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body), signal });
    told = await answer.json();
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Error(SILENT);
  }
  if (!answer.ok) throw new Error(answer.status === 401 ? ENDED : sentence(told.detail ?? SILENT));
  return told;
}

/** As `sentence` in wording.py: problems are written to stand anywhere. */
function sentence(told) {
  return told.charAt(0).toUpperCase() + told.slice(1) + (/[.!?…:]$/.test(told) ? "" : ".");
}

/** What there is to choose from, as the schema is now. */
async function offer() {
  const answer = await fetch("/pages/attributes").catch(() => null);
  if (!answer?.ok) return false;
  const told = await answer.json();
  offered = new Map(told.attributes.map((one) => [one.name, one]));
  grouped = told.groups;
  return true;
}

// What is on the screen

function draw() {
  const parts = [];
  rows.groups.forEach((group, number) => {
    if (number) parts.push(drawBetween(number));
    parts.push(drawGroup(group, number));
  });
  groups.replaceChildren(...parts);
  if (held?.isShown) tellHeld();
  byId("add-group").textContent = rows.join === "or" ? "Or else …" : "And also …";
}

function drawBetween(number) {
  const select = make("select", { ariaLabel: "Between the groups" }, new Option("or", "or"), new Option("and", "and"));
  select.value = rows.join;
  select.addEventListener("change", () => {
    rows.join = select.value;
    draw();
    groups.querySelectorAll(".between select")[number - 1].focus();
    rowsChanged();
  });
  return make("div", { className: "between" }, select);
}

function drawGroup(group, number) {
  const all = rows.join === "or";
  const title = group.length < 2 ? "When" : all ? "When all of these hold" : "When any of these holds";
  const box = make("fieldset", { className: "group" }, make("legend", { textContent: title }));
  group.forEach((row, place) => box.append(drawRow(row, number, place)));
  const more = make("button", { type: "button", className: "plain small", textContent: all ? "And …" : "Or …" });
  more.addEventListener("click", () => { group.push({}); draw(); focusRow(number, group.length - 1); });
  box.append(more);
  return box;
}

function rowAt(group, place) {
  return groups.querySelectorAll(".group")[group]?.querySelectorAll(".brow")[place];
}

function focusRow(group, place) {
  rowAt(group, place)?.querySelector("select").focus();
}

function drawRow(row, group, place) {
  const box = make("div", { className: "brow" });
  const name = make("select", { ariaLabel: "Attribute" }, new Option("Choose…", ""));
  for (const group of grouped) name.append(make("optgroup", { label: group.name }, ...group.attributes.map((one) => new Option(one, one))));
  name.value = row.attribute ?? "";
  const operator = make("select", { ariaLabel: "Operator" });
  const values = make("div", { className: "vals" });
  const drop = make("button", { type: "button", className: "plain drop", textContent: "✕", ariaLabel: "Remove this row" });

  const choose = (anew) => {
    const known = offered.get(row.attribute);
    operator.replaceChildren(...(known?.choices ?? []).map((one) => new Option(one.label, one.operator)));
    operator.disabled = !known;
    // Only where somebody chose another attribute: what the filter says is never replaced by what is offered.
    if (anew && known && !known.choices.some((one) => one.operator === row.operator)) row.operator = known.choices[0].operator;
    operator.value = row.operator ?? "";
    drawValues(row, known, values);
  };
  name.addEventListener("change", () => { row.attribute = name.value; row.values = []; choose(true); rowsChanged(); });
  operator.addEventListener("change", () => { row.operator = operator.value; choose(false); rowsChanged(); });
  drop.addEventListener("click", () => {
    rows.groups[group].splice(place, 1);
    if (!rows.groups[group].length) rows.groups.splice(group, 1);
    if (!rows.groups.length) rows.groups = [[{}]];
    rowsChanged(); // before they are drawn: what was said of a row is not to be said of the one in its place
    draw();
    focusRow(Math.min(group, rows.groups.length - 1), 0);
  });
  choose(false);
  box.append(name, operator, values, drop); // as the keyboard goes through them
  return box;
}

function drawValues(row, known, box) {
  const takes = known?.choices.find((one) => one.operator === row.operator)?.takes ?? "none";
  row.values ??= [];
  const number = { none: 0, one: 1, words: 1, path: 1, two: 2, now: 2, similar: 2, compares: 4, near: 4, inside: 4, many: Math.max(1, row.values.length) }[takes];
  row.values = Array.from({ length: number }, (_, place) => row.values[place] ?? "");
  box.className = `vals${takes === "two" && known.kind !== "time" ? " pair" : ""}${known?.kind === "time" ? " wide" : ""}`;
  if (COMPUTED.has(takes)) {
    box.className = "vals wide computed";
    box.replaceChildren(...drawComputed(row, known, takes, offered, rowsChanged));
    return;
  }
  if (takes === "path") {
    box.className = "vals wide";
    box.replaceChildren(...drawPath(row, rowsChanged));
    return;
  }
  const inputs = [];
  for (let place = 0; place < number; place++) inputs.push(drawValue(row, known, place, number, takes));
  if (takes === "many") {
    const more = make("button", { type: "button", className: "plain small", textContent: "Another value" });
    more.addEventListener("click", () => {
      row.values.push("");
      drawValues(row, known, box);
      [...box.querySelectorAll("input, select")].at(-1).focus();
    });
    inputs.push(more);
  }
  box.replaceChildren(...inputs.flat());
}

let lists = 0;

function drawValue(row, known, place, number, takes) {
  const given = row.values[place] ?? "";
  const label = number > 1 ? `Value ${place + 1} of ${row.attribute}` : `Value of ${row.attribute}`;
  let input;
  const made = [];
  if (known.select && takes !== "words") {
    input = make("select", { ariaLabel: label }, new Option("Choose…", ""), ...known.values.map((one) => new Option(one, one)));
    if (given && !known.values.includes(given)) input.append(new Option(given, given)); // younger than this page
  } else {
    input = make("input", { ariaLabel: label, autocomplete: "off" });
    if (known.kind === "numeric") input.inputMode = "decimal";
    if (known.kind === "time" && (!given || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?$/.test(given))) {
      input.type = "datetime-local";
      if (/:\d\d:(?!00)\d\d/.test(given)) input.step = "1"; // seconds take room that a phone has not
    }
    if (takes === "words") input.placeholder = "words";
    if (known.values.length || known.search) {
      const list = make("datalist", { id: `values-${++lists}` }, ...known.values.map((one) => new Option(one, one)));
      input.setAttribute("list", list.id);
      input.placeholder = "type to search";
      if (known.search) input.dataset.search = row.attribute;
      made.push(list);
    }
  }
  input.value = input.type === "datetime-local" ? given.replace(/Z$/, "") : given;
  input.addEventListener("input", () => { row.values[place] = input.value; rowsChanged(); });
  if (input.type === "datetime-local") {
    input.ariaLabel = `${label}, UTC`;
    return [make("span", { className: "utc" }, input, make("small", { textContent: "UTC", ariaHidden: "true" }))];
  }
  return [input, ...made];
}

// What is asked of the server

function rowsChanged() {
  setUnread(true);
  later(readRows, 150);
}

async function readRows(mine) {
  const told = await ask("/pages/filter", { rows });
  if (mine !== turn) return;
  const at = told.error?.row ?? told.incomplete[0];
  setUnread(false, at && { at, told: told.error?.row ? told.error.told : MISSING, isShown: false });
  if (told.text !== undefined) text.value = told.text;
  say(told, true);
  const send = sendAfter;
  sendAfter = false;
  if (send && held) goToHeld();
  else if (send && !told.error) text.form.requestSubmit();
}

function setUnread(now, hold = null) {
  unread = now;
  held = hold;
  text.required = isNeeded && !unread && !held; // while rows have errors, an empty text is not one
}

function textChanged(_, pause = 300) {
  setUnread(false);
  sendAfter = false;
  later(async (mine) => {
    const told = await ask("/pages/filter", { text: text.value });
    if (mine !== turn) return;
    say(told, false);
    if (told.error) { shown(MISTAKE); return; }
    const found = told.empty ? { join: "or", groups: [[{}]] } : told.rows;
    if (found && !told.empty && !fits(found)) await offer(); // the schema has grown since
    if (mine !== turn) return;
    if (!found || !(told.empty || fits(found))) { shown(MORE); return; }
    rows = found;
    shown("");
    draw();
  }, pause);
}

/** Whether everything in these rows is offered here; else they would be shown as what they are not. */
function fits(found) {
  return found.groups.flat().every((row) => offered.get(row.attribute)?.choices.some((one) => one.operator === row.operator));
}

function later(work, pause) {
  const mine = ++turn;
  clearTimeout(waiting);
  counting?.abort();
  waiting = setTimeout(() => work(mine).catch((problem) => failed(problem, mine)), pause);
}

const MORE = "Rows cannot show this filter. Edit it as text.";
const MISSING = "Enter a value, or remove this row.";
const MISTAKE = "The text has an error. Rows come back when it is fixed.";

/** Rows, or why there are none. */
function shown(instead) {
  onlyText.textContent = instead;
  onlyText.hidden = instead === "";
  groups.hidden = byId("adding").hidden = instead !== "";
}

function failed(problem, mine) {
  if (problem.name === "AbortError" || mine !== turn) return;
  const place = count ?? wrong;
  place.textContent = sendAfter && count ? `Not saved. ${problem.message}` : problem.message;
  if (sendAfter) place.scrollIntoView({ block: "nearest" });
  sendAfter = false;
}

function tellHeld() {
  held.isShown = true;
  const row = rowAt(...held.at);
  if (!row || row.querySelector(".wrong")) return;
  row.append(make("p", { className: "wrong", id: "wrong-row", role: "status", textContent: held.told }));
  for (const field of row.querySelectorAll(".vals input, .vals select")) field.setAttribute("aria-describedby", "wrong-row");
}

/** Moves to the row with the error instead of saving. */
function goToHeld() {
  tellHeld();
  const row = rowAt(...held.at);
  const fields = [...row.querySelectorAll(".vals input, .vals select")];
  (fields.find((field) => !field.value) ?? fields[0] ?? row.querySelector("select")).focus();
}

function say(told, fromRows) {
  for (const place of groups.querySelectorAll(".brow .wrong")) place.remove();
  for (const field of groups.querySelectorAll("[aria-describedby]")) field.removeAttribute("aria-describedby");
  text.removeAttribute("aria-invalid");
  wrong.replaceChildren();
  warnings.replaceChildren();
  if (told.empty || told.error) { newest?.replaceChildren(); count?.replaceChildren(); }
  if (told.empty) return;
  if (told.error) {
    if (fromRows && told.error.row) { tellHeld(); return; }
    text.setAttribute("aria-invalid", "true");
    const go = make("button", { type: "button", className: "link", textContent: `line ${told.error.line}, column ${told.error.column}` });
    go.addEventListener("click", () => {
      const offset = [...text.value].slice(0, told.error.offset).join("").length; // the server counts whole characters
      text.focus();
      text.setSelectionRange(offset, offset + 1);
    });
    wrong.append(make("p", { className: "wrong" }, `${told.error.told} `, make("span", { className: "at" }, "(", go, ")")));
    if (told.error.picture) wrong.append(make("pre", { className: "caret", textContent: told.error.picture }));
    return;
  }
  warnings.append(...told.warnings.map((one) => make("p", { className: "notice", textContent: one })));
  if (count) tally(told.text);
}

/** Counts, and when nobody types for a while looks whether something else finds it all: that is costly. */
function tally(filter) {
  count.textContent = "Counting …";
  counting = new AbortController();
  const { signal } = counting;
  const mine = turn;
  setTimeout(async () => {
    if (signal.aborted) return;
    try {
      const told = await ask("/pages/filter/count", { text: filter }, signal);
      if (signal.aborted || told.error) return;
      const number = (value) => value.toLocaleString("en");
      if (told.scanned) count.replaceChildren("Matches ", make("strong", { textContent: number(told.matched) }), ` ${told.told}`);
      else count.textContent = told.told;
      newest.replaceChildren(...nodes(told.newest));
      setTimeout(() => covered(filter, signal), 1000);
    } catch (problem) {
      failed(problem, mine);
    }
  }, 250);
}

async function covered(filter, signal) {
  if (signal.aborted) return;
  const besides = text.form.dataset.besides; // it does find all that it finds
  const told = await ask("/pages/filter/covered", { text: filter, besides }, signal).catch(() => ({})); // only advice
  if (signal.aborted || !told.covered_by) return;
  const link = make("a", { href: `/pages/subscriptions/${encodeURIComponent(told.covered_by)}`, textContent: "one you have" });
  warnings.append(make("p", { className: "notice" }, "All of this is already covered by ", link, "."));
}

async function begin() {
  if (!await offer()) return; // the text alone is enough
  const given = text.value.trim() !== "";
  groups.hidden = byId("adding").hidden = given; // until it is known what the rows are
  builder.hidden = false;
  if (!given) draw();
  byId("add-group").addEventListener("click", () => {
    rows.groups.push([{}]);
    draw();
    focusRow(rows.groups.length - 1, 0);
  });
  text.addEventListener("input", textChanged);
  text.form.addEventListener("submit", (event) => {
    if (!unread && !held) return;
    event.preventDefault();
    if (!unread) { goToHeld(); return; }
    sendAfter = true; // once the text says what the rows say
    later(readRows, 0);
  });
  builder.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.tagName === "INPUT") event.preventDefault(); // a row is not yet the filter
  });
  if (given) textChanged(null, 0);
}

begin();
