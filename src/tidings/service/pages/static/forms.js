// What makes forms comfortable: a form that is sent without leaving the page, a tree that is searched, checks on the way.

import { nodes, tellEnded } from "./live.js";

/** Sends a form and shows what came of it, without leaving the page. */
async function inPlace(form) {
  const place = document.getElementById(form.dataset.inplace);
  const body = new URLSearchParams(new FormData(form));
  body.set("piece", "1");
  form.dataset.sent = "1"; // once at a time
  place.replaceChildren("Sending …");
  try {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body, redirect: "manual" });
    if (answer.status === 401 || answer.type === "opaqueredirect") { place.replaceChildren(); tellEnded(); return; }
    place.replaceChildren(...nodes(await answer.text()));
  } catch {
    place.replaceChildren("The service is not responding.");
  } finally {
    delete form.dataset.sent;
  }
}

/** Of a tree, what holds the words: with all above it, so that one sees where it lies. */
function narrow(input) {
  const box = input.closest(".pick");
  const sought = input.value.trim().toLowerCase();
  let found = 0;
  const keep = (node) => {
    const fits = node.dataset.node.toLowerCase().includes(sought);
    const below = [...node.querySelectorAll(":scope > details > ul > li")].map((one) => keep(one)).some(Boolean);
    if (fits) found += 1;
    node.hidden = sought !== "" && !fits && !below;
    const details = node.querySelector(":scope > details");
    if (details) details.open = sought !== "" ? below : details.querySelector(":checked") !== null;
    return fits || below;
  };
  box.querySelectorAll(":scope .tree > ul > li").forEach(keep);
  box.querySelector("[data-narrowed]").textContent = sought === "" ? "" : found === 1 ? "1 found" : `${found} found`;
}

/** Shows errors at their fields while a form is filled in; only for fields that were touched. */
function checking(form) {
  const touched = new Set();
  let turn = 0;
  let waiting = 0;
  const look = async (mine) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("check", "1");
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (mine !== turn || !answer?.ok) return;
    const { errors, told } = await answer.json();
    if (mine !== turn) return;
    for (const name of touched) {
      const field = form.elements[name];
      if (!(field instanceof HTMLElement)) continue; // several of one name have no one place
      document.getElementById(`wrong-${name}`)?.remove();
      field.removeAttribute("aria-invalid");
      if (!(name in errors) || !field.value.trim()) continue;
      const wrong = Object.assign(document.createElement("p"), { className: "wrong", id: `wrong-${name}`, textContent: errors[name] });
      field.after(wrong);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", wrong.id);
    }
    form.querySelector("[data-told]").textContent = told;
  };
  form.addEventListener("input", (event) => {
    if (event.target.name) touched.add(event.target.name);
    const mine = ++turn;
    clearTimeout(waiting);
    waiting = setTimeout(() => look(mine), 300);
  });
}

for (const form of document.querySelectorAll("[data-checked]")) checking(form);
for (const input of document.querySelectorAll("[data-narrows]")) {
  input.hidden = false;
  input.addEventListener("input", () => narrow(input));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // to search is not yet to send
  });
}
/** Reads a chosen file into a field, no more of it than the service looks at, and only whole lines of that. */
async function fill(input) {
  const [file] = input.files;
  if (!file) return;
  const form = input.form;
  const most = Number(input.dataset.most);
  let text = await file.slice(0, most).text();
  if (file.size > most && text.lastIndexOf("\n") > 0) text = text.slice(0, text.lastIndexOf("\n") + 1);
  form.elements[input.dataset.into].value = text;
  if (!form.elements[input.dataset.names].value) form.elements[input.dataset.names].value = file.name;
  const told = file.size > most ? `The first ${text.length.toLocaleString("en")} characters were taken.` : "";
  form.querySelector("[data-filled]").textContent = told;
}

for (const input of document.querySelectorAll("[data-into]")) {
  for (const one of [input, ...input.labels]) one.hidden = false;
  input.addEventListener("change", () => fill(input));
}
for (const form of document.querySelectorAll("[data-live]")) {
  let again = false; // what is changed while an answer is on its way is sent after it
  form.addEventListener("change", async (event) => {
    again = Boolean(event.target.name);
    while (again && !form.dataset.sent) {
      again = false;
      await inPlace(form);
    }
  });
}
document.addEventListener("submit", (event) => {
  if (event.target.dataset.inplace === undefined || event.submitter?.dataset.whole !== undefined) return;
  event.preventDefault();
  if (!event.target.dataset.sent) inPlace(event.target);
});

// A file that is chosen goes into the text beside it, so that it can be looked at and corrected.
for (const file of document.querySelectorAll("input[type=file][data-into]")) {
  file.addEventListener("change", async () => {
    if (file.files.length) document.getElementById(file.dataset.into).value = await file.files[0].text();
  });
}
