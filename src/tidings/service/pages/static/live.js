// What makes pages live: the home page's figures, reasons in place, times that go on.

const proof = document.body.dataset.proof;

export const ENDED = Symbol("the session has ended"); // visitors without one are sent to the log-in

/** The text of a page's piece, null where it cannot be had now, or ENDED. `signal` ends the waiting. */
export async function piece(address, signal) {
  try {
    const answer = await fetch(address, { headers: { "X-Form-Proof": proof }, redirect: "manual", signal });
    if (answer.type === "opaqueredirect") return ENDED;
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** Told once, on top of the page; what is on the screen stays. */
export function tellEnded() {
  if (document.getElementById("ended")) return;
  const link = document.createElement("a");
  link.href = `/pages/login?${new URLSearchParams({ next: location.pathname + location.search, ended: "1" })}`;
  link.textContent = "Log in again";
  const told = document.createElement("p");
  Object.assign(told, { id: "ended", className: "notice bad", role: "alert" });
  told.append("Your session has ended, so this page no longer updates. ", link, ".");
  document.getElementById("main").prepend(told);
}

/** Server-made markup, escaped there, as nodes. */
export function nodes(text) {
  return new DOMParser().parseFromString(text, "text/html").body.childNodes;
}

/** What a part says, apart from how long ago it was: that goes on by itself. */
function said(part) {
  const copy = part.cloneNode(true);
  for (const time of copy.querySelectorAll("time[data-ago]")) time.textContent = "";
  return copy.innerHTML;
}

/** Whether somebody is at it, so that it must not change under the hand. */
function isInUse(part) {
  const chosen = getSelection();
  const marked = !chosen.isCollapsed && chosen.rangeCount > 0 && chosen.getRangeAt(0).intersectsNode(part);
  return marked || part.contains(document.activeElement);
}

const POINTS = matchMedia("(hover: hover)"); // a finger leaves its mark where it last was

function parts(place) {
  return new Map([...place.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
}

/** Only the parts that say something new are replaced; a place without parts is replaced as a whole. */
function replace(place, made) {
  const [old, fresh] = [parts(place), parts(made)];
  const same = old.size > 0 && old.size === fresh.size && [...old.keys()].every((name) => fresh.has(name));
  if (!same) {
    if (!isInUse(place)) place.replaceChildren(...made.childNodes);
    return;
  }
  for (const [name, part] of old) {
    if (isInUse(part) || (POINTS.matches && part.matches(":hover"))) continue;
    if (said(part) !== said(fresh.get(name))) part.replaceChildren(...fresh.get(name).childNodes);
  }
}

const SILENT = 3; // missing answers in a row before the page says so
const PATIENCE = 10000; // milliseconds for one answer

function tellSilent(since) {
  if (document.getElementById("silent")) return;
  const time = since.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const told = document.createElement("p");
  Object.assign(told, { id: "silent", className: "notice bad", role: "status" });
  document.getElementById("main").prepend(told);
  told.textContent = `The service is not responding; this is as of ${time}.`; // set only when it changes: screen readers read each change aloud
}

function refreshing(place) {
  let waiting = false;
  let failed = 0;
  let last = new Date();
  const look = async () => {
    if (document.hidden || waiting) return;
    waiting = true;
    const text = await piece(place.dataset.refresh, AbortSignal.timeout(PATIENCE));
    waiting = false;
    if (text === null) {
      if (++failed === SILENT) tellSilent(last);
      return;
    }
    failed = 0;
    last = new Date();
    document.getElementById("silent")?.remove();
    if (text === ENDED) { clearInterval(timer); tellEnded(); }
    if (typeof text === "string") replace(place, new DOMParser().parseFromString(text, "text/html").body);
  };
  const timer = setInterval(look, Number(place.dataset.every));
  if (place.dataset.at === "once") look();
}

/** What the server was not ready with when it sent the page. Errors are shown on the page that its link leads to. */
async function later(place) {
  const text = await piece(place.dataset.later);
  if (text === ENDED) tellEnded();
  else if (text === null) location.replace(place.querySelector("a").href);
  else place.replaceWith(...nodes(text));
}

async function reason(link) {
  const text = await piece(`${link.getAttribute("href")}?piece=1`);
  if (typeof text !== "string") { location.href = link.href; return; }
  const box = document.createElement("div");
  box.append(...nodes(text));
  link.closest(".why").replaceWith(box);
  box.tabIndex = -1;
  box.focus({ preventScroll: true });
}

const STEPS = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [30 * 86400, "day", 86400]];

function ago(seconds) {
  const distance = Math.abs(seconds);
  if (distance < 2) return "just now";
  for (const [below, unit, size] of STEPS) {
    if (distance < below) {
      const count = Math.floor(distance / size);
      const text = `${count} ${unit}${count === 1 ? "" : "s"}`;
      return seconds > 0 ? `${text} ago` : `in ${text}`;
    }
  }
  return null;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = ago(Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000));
    if (text !== null && text !== time.textContent) time.textContent = text;
  }
}

/** One more field for another value, without asking the server for it. */
function another(button) {
  const places = button.closest(".field").querySelector(".several");
  const made = places.lastElementChild.cloneNode(true);
  made.value = "";
  made.removeAttribute("id");
  made.removeAttribute("required");
  made.setAttribute("aria-label", `${button.value}, value ${places.children.length + 1}`);
  places.append(made);
  made.focus();
}

let searching = 0;

function search(input) {
  clearTimeout(searching);
  searching = setTimeout(async () => {
    const query = new URLSearchParams({ attribute: input.dataset.search, q: input.value });
    if (input.dataset.domain) query.set("domain", input.form.elements[input.dataset.domain].value);
    const text = await piece(`/pages/values?${query}`);
    if (typeof text !== "string") return;
    input.list.replaceChildren(...JSON.parse(text).values.map((value) => new Option(value, value)));
  }, 200);
}

/** Only the fields that belong to the chosen kind. The others are not sent either: the browser would refuse the form for
 *  what is wrong in a field that nobody sees. */
function showing(select) {
  for (const part of document.querySelectorAll("[data-when]")) {
    part.hidden = !part.dataset.when.split(" ").includes(select.value);
    for (const control of part.querySelectorAll("input, select, textarea, button")) control.disabled = part.hidden;
  }
}

/** A confirmation is shown once, not again when the page is reloaded or opened from a bookmark. */
function forgetDone() {
  const address = new URL(location.href);
  const told = ["made", "done", "added", "count"].filter((name) => address.searchParams.has(name));
  for (const name of told) address.searchParams.delete(name);
  if (told.length) history.replaceState(history.state, "", address);
}

forgetDone();
for (const place of document.querySelectorAll("[data-refresh]")) refreshing(place);
for (const place of document.querySelectorAll("[data-later]")) later(place);
for (const select of document.querySelectorAll("[data-shows]")) {
  showing(select);
  select.addEventListener("change", () => showing(select));
}
setInterval(tick, 2000);
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-why]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); reason(link); }
  const button = event.target.closest("[data-another]");
  if (button) { event.preventDefault(); another(button); }
});
document.addEventListener("input", (event) => {
  if (event.target.dataset?.search !== undefined) search(event.target);
});
