// Asks the server every few seconds whether what the page shows has changed, while nobody is in the middle of something.

const LOOKS_ROUND_MS = 400;
const TYPED_MS = 3000;
const PUTS_BACK_MS = 15000;

const SAID = {
  live: ["Live", "This page follows what agents write. Click to switch that off."],
  off: ["Live is off", "This page stays as it is until you reload it or do something. Click to follow what agents write."],
  away: ["No answer", "The store does not answer. You see what was read last; it is followed again once it answers."],
  blind: ["Not live", "This store cannot tell of changes. Reload the page to see them."],
  editing: ["Paused: editing", "Paused because you are editing. It goes on when you have saved or cancelled."],
  typing: ["Paused: typing", "Paused because you are typing. It goes on when you have left the field."],
  open: ["Paused: open", "Paused while this is open. It goes on when you have closed it."],
  held: ["Live", "This page follows what agents write. Click to switch that off."],
};

const watches = new WeakMap();
const hand = { isDown: false, typedAt: 0, field: null, before: "" };

function isText(element) {
  if (!element || element.getAttribute("role") === "combobox" || element.type === "search") return false;
  return element.tagName === "TEXTAREA" || (element.tagName === "INPUT" && /^(text|password|number)$/.test(element.type));
}

document.addEventListener("pointerdown", () => (hand.isDown = true), true);
for (const name of ["pointerup", "pointercancel", "blur"]) window.addEventListener(name, () => (hand.isDown = false), true);
document.addEventListener("input", () => (hand.typedAt = Date.now()), true);
document.addEventListener("focusin", (event) => {
  hand.field = isText(event.target) ? event.target : null;
  hand.before = hand.field ? hand.field.value : "";
});

function pause() {
  if (document.querySelector('[class*="st-key-live-hold-"]')) return "editing";
  const isTyping = hand.field && hand.field === document.activeElement && hand.field.value !== hand.before;
  if (isTyping || Date.now() - hand.typedAt < TYPED_MS) return "typing";
  if (document.querySelector('[role="dialog"], [data-testid="stPopoverBody"], [role="listbox"]')) {
    return "open";
  }
  return hand.isDown ? "held" : "";
}

// While the script runs, or the server is gone, there is nobody to ask.
function isReady() {
  const app = document.querySelector("[data-testid=stApp]");
  return app && app.dataset.testScriptState === "notRunning" && app.dataset.testConnectionState === "CONNECTED";
}

function scrollers() {
  return [...document.querySelectorAll('[data-testid="stDataFrame"] .dvn-scroller')];
}

// A table whose rows have changed is drawn anew, from its top: it goes back to where it was.
function keepScroll(watch) {
  if (Date.now() < watch.putsBackUntil) {
    scrollers().forEach((found, at) => {
      const before = watch.scrolled[at];
      if (!before || before.element === found || found.scrollTop > 0) return;
      found.scrollTop = before.top;
      // Once it is there, whoever scrolls it up again has it so.
      if (found.scrollTop === before.top) before.element = found;
    });
  } else {
    watch.scrolled = scrollers().map((element) => ({ element, top: element.scrollTop }));
  }
}

function lookRound(watch) {
  const { data, button } = watch;
  const paused = data.state === "live" ? pause() : "";
  const [said, help] = SAID[paused || data.state];
  if (button.lastChild.textContent !== said) button.lastChild.textContent = said;
  button.dataset.shows = !paused || paused === "held" ? data.state : "paused";
  button.title = help;
  button.disabled = data.state === "blind";
  button.setAttribute("aria-pressed", String(data.state !== "off"));
  keepScroll(watch);
  const isAsking = data.state === "live" || data.state === "away";
  if (!isAsking || paused || document.hidden || !isReady()) return;
  if (Date.now() - watch.askedAt < data.every) return;
  watch.askedAt = Date.now();
  watch.scrolled = scrollers().map((element) => ({ element, top: element.scrollTop }));
  watch.ask();
}

export default function ({ data, parentElement, setTriggerValue }) {
  const before = watches.get(parentElement);
  const watch = before ?? { askedAt: Date.now(), scrolled: [], putsBackUntil: 0 };
  if (before && before.data.refreshed !== data.refreshed) watch.putsBackUntil = Date.now() + PUTS_BACK_MS;
  watch.data = data;
  watch.button = parentElement.querySelector("button");
  watch.ask = () => setTriggerValue("asked", Date.now());
  watch.button.onclick = () => setTriggerValue("switched", Date.now());
  watches.set(parentElement, watch);
  clearInterval(watch.timer);
  watch.timer = setInterval(() => lookRound(watch), LOOKS_ROUND_MS);
  lookRound(watch);
  return () => clearInterval(watch.timer);
}
