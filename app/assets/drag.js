// Ranks candidates anew at every step of a dragged slider. Texts are put in as textContent, never as markup.

const WEIGHTS = ["semantic_weight", "recency_weight", "importance_weight"];
const views = new WeakMap();

function made(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function scored(row, at) {
  const [, cosine, lexical, days, importance] = row;
  const isFused = at.lexical_weight > 0 && lexical !== null;
  const fused = (1 - at.lexical_weight) * Math.max(cosine ?? 0, 0) + at.lexical_weight * (lexical ?? 0);
  const similarity = isFused ? fused : cosine;
  const raw = [similarity ?? 0, 0.5 ** (Math.max(days, 0) / at.recency_half_life_days), importance];
  const parts = raw.map((value, place) => value * at[WEIGHTS[place]]);
  return { row, similarity, parts, score: parts[0] + parts[1] + parts[2] };
}

function ranked(data, at) {
  return data.rows
    .map((row) => scored(row, at))
    .filter((each) => each.score >= data.minimum.score)
    .filter((each) => !data.minimum.similarity || each.similarity >= data.minimum.similarity)
    .sort((one, other) => other.score - one.score || one.row[3] - other.row[3])
    .slice(0, data.limit);
}

function line(each, place, widest, before, colours) {
  const item = made("li", "line");
  const moved = before === undefined ? "" : before > place ? "▲" : before < place ? "▼" : "";
  const track = made("span", "track");
  each.parts.forEach((part, at) => {
    const bar = made("span", "bar");
    bar.style.width = `${(100 * Math.max(part, 0)) / widest}%`;
    bar.style.background = colours[at];
    track.append(bar);
  });
  item.append(made("span", "place", `${place} ${moved}`), made("span", "text", each.row[0]), track);
  item.append(made("span", "score", each.score.toFixed(3)));
  return item;
}

function show(view) {
  const { data, sliders, list } = view;
  const at = Object.fromEntries(data.sliders.map((each) => [each.name, each.steps[Number(sliders[each.name].value)]]));
  const found = ranked(data, at);
  const widest = Math.max(...found.map((each) => each.score), 0.001);
  list.replaceChildren(...found.map((each, at) => line(each, at + 1, widest, view.before.get(each.row[0]), data.colours)));
  for (const each of data.sliders) {
    const text = `${Number(at[each.name].toFixed(2))}${each.unit}`;
    sliders[each.name].nextSibling.textContent = text;
    sliders[each.name].setAttribute("aria-valuetext", text);
  }
  return { at, found };
}

function built(parentElement, data) {
  const view = { data, sliders: {}, before: new Map(), isHeld: false, list: parentElement.querySelector("ol") };
  const panel = parentElement.querySelector("section");
  for (const each of data.sliders) {
    const label = made("label", "slider");
    const input = Object.assign(made("input", ""), { type: "range", min: 0, max: each.steps.length - 1 });
    input.oninput = () => show(view);
    input.onpointerdown = () => (view.isHeld = true);
    input.onchange = () => {
      view.isHeld = false;
      view.choose({ [each.name]: show(view).at[each.name] });
    };
    label.append(made("span", "", each.label), input, made("output", ""));
    view.sliders[each.name] = input;
    panel.append(label);
  }
  return view;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const view = views.get(parentElement) ?? built(parentElement, data);
  views.set(parentElement, view);
  view.data = data;
  view.choose = (at) => setTriggerValue("chosen", at);
  if (view.isHeld) return;
  data.sliders.forEach((each) => (view.sliders[each.name].value = each.at));
  const { found } = show(view);
  view.before = new Map(found.map((each, place) => [each.row[0], place + 1]));
}
