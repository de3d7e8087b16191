// Keys for a review; while something is typed or asked, or a button is about to be pressed with Enter, they are left
// alone. One that is held down moves and decides again and again, but opens and applies nothing a second time.
document.addEventListener("keydown", (event) => {
  const again = ["j", "k", "a", "r", "ArrowDown", "ArrowUp"];
  const keys = event.repeat ? again : [...again, "e", "u", "Enter"];
  if (event.ctrlKey || event.metaKey || event.altKey || !keys.includes(event.key)) return;
  if (document.querySelector(".q-dialog, .q-menu")) return;
  if (event.target.closest("input, textarea, select, [contenteditable], .q-slider")) return;
  if (event.key === "Enter" && event.target.closest("button, a, .q-btn")) return;
  event.preventDefault();
  emitEvent("review_key", event.key);
});

// What moves is heard only where the focus is on the list; what had it may be gone with a window.
window.tablewright = window.tablewright || {};
window.tablewright.toTheList = () =>
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById("tw-proposed")?.focus({preventScroll: true});
  }, 60);
