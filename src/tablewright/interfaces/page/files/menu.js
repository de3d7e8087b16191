// A menu where the pointer is, or beside what is focused: a list of [label, what it does], with null between groups.
// It works with the mouse and with the keys of every menu: arrows, Home, End, Enter, Escape, a first letter.
window.tablewright = window.tablewright || {};

window.tablewright.menu = (() => {
  let shown = null;
  let before = null;

  function close(back = true) {
    shown?.remove();
    shown = null;
    if (back && before?.isConnected) before.focus({ preventScroll: true });
  }

  function entry([label, act, off]) {
    const item = document.createElement("button");
    item.type = "button";
    item.className = "tw-menu-item";
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    item.disabled = Boolean(off);
    item.textContent = label;
    item.onclick = () => {
      close();
      act();
    };
    return item;
  }

  function line() {
    const element = document.createElement("div");
    element.setAttribute("role", "separator");
    return element;
  }

  // Keys are the menu's wherever the focus is: a grid that is drawn again takes it back.
  function pressed(event) {
    if (!shown) return;
    const items = [...shown.querySelectorAll("button:not(:disabled)")];
    const at = items.indexOf(document.activeElement);
    const letter = event.key.length === 1 ? event.key.toLowerCase() : "";
    const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    const next = { ArrowDown: items[(at + 1) % items.length], ArrowUp: items.at(Math.max(at, 0) - 1), Home: items[0], End: items.at(-1) }[event.key]
      ?? (letter && after.find((item) => item.textContent.toLowerCase().startsWith(letter)));
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (next) next.focus();
    else return;
    event.preventDefault();
  }

  function open(name, entries, x, y) {
    close(false);
    before = document.activeElement;
    shown = document.createElement("div");
    shown.className = "tw-popup";
    shown.setAttribute("role", "menu");
    shown.setAttribute("aria-label", name);
    shown.append(...entries.map((each) => (each ? entry(each) : line())));
    shown.addEventListener("contextmenu", (event) => event.preventDefault());
    document.body.append(shown);
    const { width, height } = shown.getBoundingClientRect();
    shown.style.left = `${Math.max(4, Math.min(x, window.innerWidth - width - 4))}px`;
    shown.style.top = `${Math.max(4, Math.min(y, window.innerHeight - height - 4))}px`;
    shown.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
  }

  document.addEventListener("keydown", pressed, true);
  document.addEventListener("pointerdown", (event) => { if (shown && !shown.contains(event.target)) close(false); }, true);
  window.addEventListener("blur", () => close(false));
  return { open, close };
})();
