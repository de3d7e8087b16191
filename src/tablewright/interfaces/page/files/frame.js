// Light or dark: as the system says, until the person chooses; the choice stays in this browser.
window.tablewright = window.tablewright || {};

window.tablewright.useTheme = () => {
  const chosen = localStorage.getItem("tablewright-theme");
  if (chosen) Quasar.Dark.set(chosen === "dark");
};

window.tablewright.switchTheme = () => {
  const dark = !document.body.classList.contains("body--dark");
  localStorage.setItem("tablewright-theme", dark ? "dark" : "light");
  Quasar.Dark.set(dark);
};

// In the language of the page. Of "one|many" the `count` says which.
window.tablewright.t = (english, values = {}) => {
  const [one, many] = (window.tablewright.words?.[english] ?? english).split("|");
  const number = (value) => (typeof value === "number" ? value.toLocaleString(document.documentElement.lang || "en") : value);
  return (many === undefined || values.count === 1 ? one : many).replace(/\{(\w+)\}/g, (_, name) => number(values[name]));
};

// A quote may stand far down in the passage around it. What scrolls must be reached with the keyboard, too.
window.tablewright.showQuotes = () =>
  setTimeout(() => {
    for (const mark of document.querySelectorAll(".tw-quote .tw-mark")) {
      const passage = mark.parentElement;
      passage.scrollTop = Math.max(0, Math.floor(mark.offsetTop / 20) * 20 - 40);  // 20: a line
      if (passage.scrollHeight > passage.clientHeight) passage.tabIndex = 0;
    }
  }, 30);

// The browser's own way to paste takes minutes for a hundred thousand lines.
window.tablewright.pasteFast = (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length < 20_000) return;
  event.preventDefault();
  const { target: box } = event;
  box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
};

// A text of any length travels as a file: the connection of the page refuses messages of a million characters. The answer
// is the status of the upload, 0 where there is nothing to send, -1 if the server did not answer.
window.tablewright.sendText = async (address, text) => {
  if (!text.trim()) return 0;
  const body = new FormData();
  body.append("file", new File([text.replace(/^[\r\n]+/, "")], "pasted.txt", { type: "text/plain" }));
  try {
    return (await fetch(address, { method: "POST", credentials: "same-origin", body })).status;
  } catch {
    return -1;
  }
};

// Vue is there only after the page's own modules have run.
window.addEventListener("load", () => window.tablewright.useTheme());
