// The page of one subscription: matches as they are found.

import { ENDED, nodes, piece, tellEnded } from "./live.js";

const MOST_SHOWN = 200;
const NEWS_EVERY = 10000; // milliseconds between two words of what is new

/** Says how many came, at most every few seconds: each one aloud would be too much. */
function announcing(place) {
  let count = 0;
  let timer = 0;
  let last = -NEWS_EVERY;
  function tell() {
    timer = 0;
    last = performance.now();
    place.textContent = `${count} new match${count === 1 ? "" : "es"}`;
    count = 0;
  }
  return (more) => {
    count += more;
    if (count && !timer) timer = setTimeout(tell, Math.max(0, last + NEWS_EVERY - performance.now()));
  };
}

/** Where the cards end, the older ones begin. */
function followOlder(list) {
  const cards = [...list.children].filter((card) => card.dataset.cursor);
  let link = document.querySelector(".pager a[rel=next]");
  if (!link) {
    link = Object.assign(document.createElement("a"), { rel: "next", textContent: "Older" });
    document.querySelector(".pager").append(link);
  }
  link.href = `${location.pathname}?before=${cards.at(-1).dataset.cursor}`;
}

/** Matches as they are found. A hidden page holds no connection, since a browser has six for all its pages. */
function streaming(sign) {
  const list = document.getElementById("matches");
  const told = sign.querySelector(".told");
  const announce = announcing(document.getElementById("news"));
  let cursor = sign.dataset.after;
  let asking = false;
  let again = false;
  let polling = 0;
  let source = null;
  let ended = false;

  async function look() {
    if (asking) { again = true; return; }
    asking = true;
    const text = await piece(`/pages/subscriptions/${encodeURIComponent(sign.dataset.stream)}/newer?after=${cursor}`);
    if (text === ENDED) {
      ended = true;
      stop();
      say("no longer live", false);
      tellEnded();
      return;
    }
    if (text !== null) show([...nodes(text)].filter((node) => node.nodeType === Node.ELEMENT_NODE));
    asking = false;
    if (again) { again = false; setTimeout(look, 250); }
  }

  function show(found) {
    if (!found.length) return;
    cursor = found[0].dataset.cursor;
    const known = new Set([...list.children].map((node) => node.dataset.cursor));
    const fresh = found.filter((node) => !node.dataset.cursor || !known.has(node.dataset.cursor));
    list.prepend(...fresh);
    announce(fresh.filter((node) => node.dataset.cursor).length);
    if (list.children.length > MOST_SHOWN) {
      while (list.children.length > MOST_SHOWN) list.lastElementChild.remove();
      followOlder(list);
    }
    document.getElementById("none")?.remove();
  }

  function say(text, on) {
    if (told.textContent !== text) told.textContent = text;
    sign.classList.toggle("on", on);
  }

  function poll() {
    if (polling) return;
    say("live, every few seconds", true);
    polling = setInterval(look, 4000);
  }

  function stop() {
    source?.close();
    source = null;
    clearInterval(polling);
    polling = 0;
  }

  function start() {
    if (ended || source || polling || document.hidden) return;
    if (!window.EventSource) { poll(); return; }
    const query = new URLSearchParams({ subscription: sign.dataset.stream, after: cursor });
    source = new EventSource(`/v1/notifications/stream?${query}`);
    source.addEventListener("open", () => say("live", true));
    source.addEventListener("notification", look);
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) { stop(); poll(); look(); } // refused: it may be that the session has ended
      else say("connecting…", false);
    });
  }

  async function resume() {
    if (ended || document.hidden || source || polling) return;
    await look(); // first, so that the stream goes on from there
    start();
  }

  start();
  document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else resume(); });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", resume);
}

for (const sign of document.querySelectorAll("[data-stream]")) streaming(sign);
