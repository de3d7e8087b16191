// The width of the panel next to the grid, set by mouse or arrow keys and remembered by this browser.
window.tablewright = window.tablewright || {};

window.tablewright.panel = (() => {
  const KEY = "tablewright-panel";
  const LEAST = 320;
  const most = () => Math.max(LEAST, window.innerWidth - 360);
  const limited = (width) => Math.round(Math.max(LEAST, Math.min(most(), width)));

  function settle(width) {
    localStorage.setItem(KEY, String(limited(width)));
    emitEvent("panel_width", limited(width));
  }

  function start() {
    const handle = document.querySelector(".tw-panel-handle");
    const drawer = handle?.closest(".q-drawer");
    if (!drawer) return;
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      handle.onpointermove = (move) => { drawer.style.width = `${limited(window.innerWidth - move.clientX)}px`; };
      handle.onpointerup = (up) => {
        handle.onpointermove = handle.onpointerup = null;
        settle(window.innerWidth - up.clientX);
      };
    });
    handle.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: 40, ArrowRight: -40 }[event.key];
      if (!by) return;
      event.preventDefault();
      settle(drawer.getBoundingClientRect().width + by);
    });
    const before = Number(localStorage.getItem(KEY));
    if (before) emitEvent("panel_width", limited(before));
  }

  return { start };
})();
