// Keys for a review; while something is typed or asked, or a button is about to be pressed with Enter, they are left
// alone. One that is held down moves and decides again and again, but opens and applies nothing a second time.
// Keys that come before the page is joined to its server wait for that, so that none overtakes another.
window.tablewright = window.tablewright || {};
window.tablewright.pressed = [];
window.tablewright.send = () => {
  const pressed = window.tablewright.pressed;
  if (!window.did_handshake) setTimeout(window.tablewright.send, 20);
  else while (pressed.length) emitEvent("review_key", pressed.shift());
};
document.addEventListener("keydown", (event) => {
  const again = ["j", "k", "a", "r", "ArrowDown", "ArrowUp"];
  const keys = event.repeat ? again : [...again, "e", "x", "u", "Enter"];
  if (event.ctrlKey || event.metaKey || event.altKey || !keys.includes(event.key)) return;
  if (document.querySelector(".q-dialog, .q-menu")) return;
  if (event.target.closest("input, textarea, select, [contenteditable], .q-slider")) return;
  if (event.key === "Enter" && event.target.closest("button, a, .q-btn")) return;
  event.preventDefault();
  window.tablewright.pressed.push(event.key);
  window.tablewright.send();
});

// What moves is heard only where the focus is on the list; what had it may be gone with a window.
window.tablewright.toTheList = () =>
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById("tw-proposed")?.focus({preventScroll: true});
  }, 60);
