// What makes pages live: the home page's figures, matches as they are found, reasons in place, times that go on.

const proof = document.body.dataset.proof;

const ENDED = Symbol("the session has ended"); // whoever has none is led to the log-in

/** The text of a page's piece, null where it cannot be had now, or ENDED. */
async function piece(address) {
  try {
    const answer = await fetch(address, { headers: { "X-Form-Proof": proof }, redirect: "manual" });
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
  told.append("Your session has ended, and this page no longer changes by itself. ", link, ".");
  document.getElementById("main").prepend(told);
}

/** Server-made markup, escaped there, as nodes. */
export function nodes(text) {
  return new DOMParser().parseFromString(text, "text/html").body.childNodes;
}

function refreshing(place) {
  let waiting = false;
  const timer = setInterval(async () => {
    const reading = place.contains(document.activeElement) || !getSelection().isCollapsed;
    if (document.hidden || waiting || reading) return;
    waiting = true;
    const text = await piece(place.dataset.refresh);
    waiting = false;
    if (text === ENDED) { clearInterval(timer); tellEnded(); }
    if (typeof text === "string") place.replaceChildren(...nodes(text));
  }, Number(place.dataset.every));
}

function streaming(sign) {
  const list = document.getElementById("matches");
  const told = sign.querySelector(".told");
  let cursor = sign.dataset.after;
  let asking = false;
  let again = false;
  let polling = 0;
  let source = null;

  async function look() {
    if (asking) { again = true; return; }
    asking = true;
    const text = await piece(`/pages/subscriptions/${encodeURIComponent(sign.dataset.stream)}/newer?after=${cursor}`);
    if (text === ENDED) {
      clearInterval(polling);
      source?.close();
      say("no longer live", false);
      tellEnded();
      return;
    }
    if (text !== null) {
      const found = [...nodes(text)].filter((node) => node.nodeType === Node.ELEMENT_NODE);
      if (found.length) {
        cursor = found[0].dataset.cursor;
        const known = new Set([...list.children].map((node) => node.dataset.cursor));
        list.prepend(...found.filter((node) => !known.has(node.dataset.cursor)));
        while (list.children.length > 200) list.lastElementChild.remove();
        document.getElementById("none")?.remove();
      }
    }
    asking = false;
    if (again) { again = false; setTimeout(look, 250); }
  }

  function poll() {
    if (polling) return;
    say("live, every few seconds", true);
    polling = setInterval(() => { if (!document.hidden) look(); }, 4000);
  }

  function say(text, on) {
    if (told.textContent !== text) told.textContent = text;
    sign.classList.toggle("on", on);
  }

  if (!window.EventSource) { poll(); return; }
  const query = new URLSearchParams({ subscription: sign.dataset.stream, after: cursor });
  source = new EventSource(`/notifications/stream?${query}`);
  source.addEventListener("open", () => say("live", true));
  source.addEventListener("notification", look);
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) { poll(); look(); } // refused: it may be that the session has ended
    else say("connecting…", false);
  });
  addEventListener("pagehide", () => source.close());
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

/** Only the fields that belong to the chosen kind. */
function showing(select) {
  for (const part of document.querySelectorAll("[data-when]")) part.hidden = !part.dataset.when.split(" ").includes(select.value);
}

for (const place of document.querySelectorAll("[data-refresh]")) refreshing(place);
for (const sign of document.querySelectorAll("[data-stream]")) streaming(sign);
for (const select of document.querySelectorAll("[data-shows]")) {
  showing(select);
  select.addEventListener("change", () => showing(select));
}
setInterval(tick, 10000);
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-why]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); reason(link); }
  const button = event.target.closest("[data-another]");
  if (button) { event.preventDefault(); another(button); }
});
document.addEventListener("input", (event) => {
  if (event.target.dataset?.search !== undefined) search(event.target);
});
