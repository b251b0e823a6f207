// Draws a conversation as chat. Everything said is put in as textContent, never as markup.

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function quote(piece, data, pick) {
  const made = element("mark", "", piece.text);
  made.setAttribute("role", "button");
  made.tabIndex = 0;
  made.title = "Show the fact that rests on this";
  if (piece.facts.includes(data.current)) made.setAttribute("aria-current", "true");
  if (!piece.chosen) made.dataset.leftOut = "";
  made.onclick = () => pick(piece.facts[0]);
  made.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick(piece.facts[0]);
  };
  return made;
}

function turn(said, data, pick) {
  const made = element("li", `turn ${said.side}`);
  const who = element("div", "who");
  who.append(element("span", "name", said.name), element("span", "time", said.time));
  const text = element("div", "said");
  text.dir = "auto";
  for (const piece of said.pieces) {
    text.append(piece.facts.length ? quote(piece, data, pick) : document.createTextNode(piece.text));
  }
  made.append(who, text);
  return made;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector("ol");
  const pick = (fact) => setTriggerValue("picked", fact);
  const rows = [];
  for (const said of data.turns) {
    if (said.day) rows.push(element("li", "day", said.day));
    rows.push(turn(said, data, pick));
  }
  list.replaceChildren(...rows);
  const shown = String(data.current);
  const current = list.querySelector("mark[aria-current]");
  if (current && list.dataset.shown !== shown) {
    const within = current.getBoundingClientRect().top - list.getBoundingClientRect().top;
    list.scrollTo({ top: list.scrollTop + within - list.clientHeight / 3 });
  }
  list.dataset.shown = shown;
}
