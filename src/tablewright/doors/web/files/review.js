// Keys for a review; while something is typed, or a button is about to be pressed with Enter, they are left alone.
document.addEventListener("keydown", (event) => {
  const keys = ["j", "k", "a", "r", "e", "u", "ArrowDown", "ArrowUp", "Enter"];
  if (event.ctrlKey || event.metaKey || event.altKey || !keys.includes(event.key)) return;
  if (event.target.closest("input, textarea, select, [contenteditable], .q-dialog, .q-menu, .q-slider")) return;
  if (event.key === "Enter" && event.target.closest("button, a, .q-btn")) return;
  event.preventDefault();
  emitEvent("review_key", event.key);
});
