// What is typed into cells and not written yet. It stays in this browser until the server has written it, so that a
// lost connection loses nothing, not even if the page must be reloaded. What changes many cells is refused.
window.tablewright = window.tablewright || {};

window.tablewright.unsent = (() => {
  const t = (...given) => tablewright.t(...given);
  let table = "";
  let joined = false;

  const key = () => `tablewright-unsent ${table}`;
  const read = () => JSON.parse(sessionStorage.getItem(key()) ?? "[]");

  // The server does not hear what comes after a connection is back and before the page has shown who it is.
  const isJoined = () => Boolean(window.socket?.connected && window.did_handshake) && document.getElementById("popup")?.ariaHidden !== "false";

  function write(edits) {
    if (edits.length) sessionStorage.setItem(key(), JSON.stringify(edits));
    else sessionStorage.removeItem(key());
    show();
  }

  function show() {
    const place = document.getElementById("tw-unsent");
    const count = isJoined() ? 0 : read().length;
    if (place) place.textContent = count ? t("The connection is lost. {count} edit waits here and is saved when it is back.|The connection is lost. {count} edits wait here and are saved when it is back.", { count }) : "";
  }

  function send(edit) {
    write([...read().filter((other) => other.row_id !== edit.row_id || other.field !== edit.field), edit]);
    if (isJoined()) emitEvent("grid_edit", edit);
  }

  function written(rowIds) {
    const edits = read();
    if (edits.length) write(edits.filter((edit) => !rowIds.includes(edit.row_id)));
  }

  // Whether something may be sent that is not kept here.
  function isRefused() {
    if (isJoined()) return false;
    Quasar.Notify.create({ message: t("The connection is lost, so nothing was changed. Try again when it is back."), type: "warning", position: "bottom" });
    return true;
  }

  function look() {
    if (joined !== isJoined()) {
      joined = isJoined();
      if (joined) read().forEach((edit) => emitEvent("grid_edit", edit));
      show();
    }
  }

  function start(of) {
    table = of;
    setInterval(look, 200);
  }

  return { start, send, written, isRefused };
})();
