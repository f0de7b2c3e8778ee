// Fields of a row that take more than a value: comparisons, regions, paths into documents.

export function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

export const COMPUTED = new Set(["compares", "now", "near", "inside", "similar"]);
const COMPARED = ["=", "!=", "<", "<=", ">", ">="];

/** The fields of a row that compares with another attribute, with now, or with a region; `offered` are all attributes. */
export function drawComputed(row, known, takes, offered, changed) {
  const field = (place, label, hint = "") => {
    const input = make("input", { ariaLabel: `${label} of ${row.attribute}`, title: label, placeholder: hint || label, autocomplete: "off", value: row.values[place] });
    input.addEventListener("input", () => { row.values[place] = input.value; changed(); });
    return input;
  };
  const choice = (place, label, options, first) => {
    if (!row.values[place] && first) row.values[place] = options[0]?.value ?? "";
    const given = row.values[place];
    if (given && !options.some((one) => one.value === given)) options.push(new Option(given, given)); // younger than this page
    const select = make("select", { ariaLabel: `${label} of ${row.attribute}` }, ...(first ? [] : [new Option("Choose…", "")]), ...options);
    select.value = given;
    select.addEventListener("change", () => { row.values[place] = select.value; changed(); });
    return select;
  };
  const word = (textContent) => make("span", { textContent });
  const signs = () => known.choices.filter((one) => COMPARED.includes(one.operator)).map((one) => new Option(one.label, one.operator));
  if (takes === "near") {
    const units = ["km", "m", "mi"].map((one) => new Option(one, one));
    return [field(0, "Latitude"), field(1, "Longitude"), word("within"), field(2, "Distance"), choice(3, "Unit", units, true)];
  }
  if (takes === "similar") return [field(0, "Text"), word("at least"), field(1, "Similarity, 0 to 1", "0.4")];
  if (takes === "inside") return ["South", "West", "North", "East"].map((label, place) => field(place, label));
  if (takes === "now") return [choice(0, "Relation", signs(), true), word("now"), field(1, "Span", "+ 2 h")];
  const peers = [...offered.values()].filter((one) => one.peers === known.peers && one.name !== row.attribute);
  const parts = [choice(0, "Relation", signs(), true), choice(1, "Other attribute", peers.map((one) => new Option(one.name, one.name)), false)];
  if (known.kind === "numeric") parts.push(word("times"), field(2, "Times", "1"), word("plus"), field(3, "Plus", "0"));
  else if (known.kind === "time") parts.push(word("plus"), field(3, "Plus", "2 h"));
  return parts;
}

/** A path into documents: typed, or put together from what the server offers next. */
export function drawPath(row, changed) {
  const of = `of ${row.attribute}`;
  const input = make("input", { ariaLabel: `Path ${of}`, placeholder: "//title", autocomplete: "off", spellcheck: false, value: row.values[0] });
  const next = make("select", { ariaLabel: `Next step ${of}` });
  const back = make("button", { type: "button", className: "plain small", textContent: "Remove the last step" });
  const test = make("select", { ariaLabel: `Condition ${of}` });
  const value = make("input", { ariaLabel: `Value of the condition ${of}`, placeholder: "value", autocomplete: "off" });
  const add = make("button", { type: "button", className: "plain small", textContent: "Add the condition" });
  const condition = make("div", { className: "steps" }, test, value, add);
  const told = make("small", { className: "muted" });
  let turn = 0; // only the newest answer counts
  let offers = {};

  const put = (path) => {
    input.value = row.values[0] = path;
    changed();
    offer();
  };
  const offer = async () => {
    const mine = ++turn;
    const asked = new URLSearchParams({ attribute: row.attribute, path: input.value });
    const answer = await fetch(`/pages/paths?${asked}`).catch(() => null);
    const found = answer?.ok ? await answer.json().catch(() => ({})) : {};
    if (mine !== turn) return;
    offers = found;
    const groups = (found.groups ?? []).map((group) => make("optgroup", { label: group.name }, ...group.options.map((one) => new Option(one.name, one.path))));
    next.replaceChildren(new Option(input.value.trim() ? "Go on to…" : "Choose an element…", ""), ...groups);
    next.hidden = !groups.length;
    back.hidden = typeof found.shorter !== "string";
    test.replaceChildren(...(found.tests ?? []).map((one, place) => new Option(one.name, place)));
    condition.hidden = !found.tests?.length;
    told.textContent = groups.length && found.told ? `Names ${found.told}` : "";
    say();
  };
  /** XPath has no escapes: a text may have one kind of quotes, not both. */
  const say = () => {
    const chosen = offers.tests?.[test.value];
    const isNumber = /^-?(\d+\.?\d*|\.\d+)$/.test(value.value.trim());
    const isRight = chosen?.number ? isNumber : !(value.value.includes("'") && value.value.includes('"'));
    value.inputMode = chosen?.number ? "decimal" : "text";
    value.setCustomValidity(isRight || !value.value ? "" : chosen?.number ? "Enter a number." : "Use one kind of quotation marks.");
    add.disabled = !value.value.trim() || !isRight;
  };
  next.addEventListener("change", () => { if (next.value) put(next.value); });
  back.addEventListener("click", () => { put(offers.shorter); input.focus(); });
  test.addEventListener("change", say);
  value.addEventListener("input", say);
  add.addEventListener("click", () => {
    const { before, after, number } = offers.tests[test.value];
    const quote = value.value.includes("'") ? '"' : "'";
    const literal = number ? value.value.trim() : quote + value.value + quote;
    value.value = "";
    put(before + literal + after);
    input.focus();
  });
  input.addEventListener("input", () => { row.values[0] = input.value; changed(); offer(); });
  next.hidden = back.hidden = condition.hidden = true; // until it is known what there is
  offer();
  return [input, make("div", { className: "steps" }, next, back), condition, told];
}
