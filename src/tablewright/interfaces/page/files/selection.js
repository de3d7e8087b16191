// What is selected in the grid, and what is done with it: copied, cut, pasted, filled down, cleared, removed.
// The community edition of the grid has no ranges, so they are kept and drawn here.
//
// A range has two corners, each a row's place and id and a column. The server is told the ids of its first and last row:
// it knows the order that is shown, so a range may reach over rows that are not in the browser.
window.tablewright = window.tablewright || {};

window.tablewright.selection = (() => {
  const t = (...given) => tablewright.t(...given);
  const NUMBER = "tw:number";
  const MOST_PASTED = 950_000; // characters: the connection refuses messages of a million
  const state = { api: null, ranges: [], dragging: false, fetched: null, mayEdit: false };

  // ── ranges ──

  const columns = () => state.api.getAllDisplayedColumns().map((column) => column.getColId()).filter((id) => id !== NUMBER);
  const rowAt = (index) => state.api.getDisplayedRowAtIndex(index);
  const corner = (index, id, column) => ({ index, id, column });

  function bounds({ anchor, head, rows }) {
    const all = columns();
    const places = [all.indexOf(anchor.column), all.indexOf(head.column)];
    const [top, bottom] = anchor.index <= head.index ? [anchor, head] : [head, anchor];
    const left = rows ? 0 : Math.min(...places);
    return { top, bottom, columns: all.slice(Math.max(0, left), rows ? all.length : Math.max(...places) + 1) };
  }

  function isSelected(index, column) {
    return state.ranges.some((range) => {
      const { top, bottom, columns: within } = bounds(range);
      if (index < top.index || index > bottom.index) return false;
      return column === NUMBER ? Boolean(range.rows) : within.includes(column);
    });
  }

  const last = () => state.ranges.at(-1);
  const isOneCell = () => state.ranges.length === 1 && !last().rows && last().anchor.index === last().head.index && last().anchor.column === last().head.column;

  function tell() {
    const rows = state.ranges.reduce((sum, range) => sum + Math.abs(range.anchor.index - range.head.index) + 1, 0);
    const cells = state.ranges.reduce((sum, range) => {
      const { top, bottom, columns: within } = bounds(range);
      return sum + (bottom.index - top.index + 1) * within.length;
    }, 0);
    const isOnlyRows = state.ranges.length && state.ranges.every((range) => range.rows);
    const told = isOnlyRows ? t("{count} row selected|{count} rows selected", { count: rows }) : t("{count} cell selected|{count} cells selected", { count: cells });
    document.getElementById("tw-selected")?.replaceChildren(!state.ranges.length || isOneCell() ? "" : told);
  }

  function paint() {
    state.fetched = null;
    const plain = isOneCell();
    for (const box of document.querySelectorAll(".tw-sheet .ag-cell")) {
      const index = Number(box.parentElement.getAttribute("row-index"));
      box.classList.toggle("tw-picked", !plain && isSelected(index, box.getAttribute("col-id")));
    }
    tell();
  }

  // Called for each cell that is drawn: what comes into view by scrolling is marked, too.
  const mark = (params) => params.eGridCell?.classList.toggle("tw-picked",
    state.ranges.length > 0 && !isOneCell() && isSelected(params.node.rowIndex, params.column.getColId()));

  function clear() {
    state.ranges = [];
    paint();
  }

  function begin(at, { add = false, rows = false } = {}) {
    const range = { anchor: at, head: at, rows };
    state.ranges = add ? [...state.ranges, range] : [range];
    paint();
  }

  function extend(at) {
    if (!last()) return begin(at);
    last().head = at;
    paint();
  }

  // Where keys move to, unless something was selected, the focused cell is what is selected.
  function ensure() {
    const focus = state.api?.getFocusedCell();
    if (!state.ranges.length && focus) {
      const node = rowAt(focus.rowIndex);
      const column = focus.column.getColId();
      if (node?.data) begin(corner(focus.rowIndex, node.data.id, column === NUMBER ? columns()[0] : column), { rows: column === NUMBER });
    }
    return state.ranges.length > 0;
  }

  function selectAll() {
    const all = columns();
    const count = state.api.getDisplayedRowCount();
    if (!count || !all.length) return;
    window.getSelection()?.removeAllRanges();
    const first = rowAt(0)?.data?.id ?? null;
    state.ranges = [{ anchor: corner(0, first, all[0]), head: corner(count - 1, null, all.at(-1)), rows: true }];
    paint();
  }

  // ── with the mouse ──

  // The grid tells of clicks only afterwards, so the mouse is listened to directly.
  function cornerUnder(event) {
    const box = event.target.closest?.(".ag-cell");
    const index = Number(box?.parentElement.getAttribute("row-index"));
    const data = box ? rowAt(index)?.data : null;
    if (!data || state.api.getEditingCells().length) return null;
    const id = box.getAttribute("col-id");
    return { ...corner(index, data.id, id === NUMBER ? columns()[0] : id), rows: id === NUMBER };
  }

  function pressedOn(event) {
    const found = cornerUnder(event);
    if (!found) return;
    const { rows, ...at } = found;
    if (event.button === 2) {
      if (!isSelected(at.index, rows ? NUMBER : at.column)) begin(at, { rows });
      return;
    }
    if (event.shiftKey && last()) {
      last().rows = last().rows || rows;
      extend(at);
    } else begin(at, { add: event.ctrlKey || event.metaKey, rows });
    state.dragging = true;
  }

  function draggedOver(event) {
    if (!state.dragging || !event.buttons) return;
    const found = cornerUnder(event);
    if (!found || (found.index === last().head.index && found.column === last().head.column)) return;
    extend(corner(found.index, found.id, found.column));
  }

  // ── with the keys ──

  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  function move([down, right], far) {
    if (!ensure()) return;
    const all = columns();
    const { head } = last();
    const count = state.api.getDisplayedRowCount();
    const limit = (value, most) => Math.max(0, Math.min(most, value));
    const index = far && down ? (down < 0 ? 0 : count - 1) : limit(head.index + down, count - 1);
    const place = far && right ? (right < 0 ? 0 : all.length - 1) : limit(all.indexOf(head.column) + right, all.length - 1);
    state.api.ensureIndexVisible(index);
    state.api.ensureColumnVisible(all[place]);
    extend(corner(index, rowAt(index)?.data?.id ?? null, all[place]));
  }

  const letter = (event) => (event.ctrlKey || event.metaKey ? event.key.toLowerCase() : "");
  const isMenuKey = (event) => event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);

  // The grid tells of a key only when it has done with it: Enter has closed the editor by then, and must not open another.
  const ofEditor = new WeakSet();
  const isOfEditor = (event) => ofEditor.has(event);

  // What the grid shall leave to `pressed`.
  const takes = (params) => {
    const { event } = params;
    if (params.editing) ofEditor.add(event);
    if (params.editing || event.type !== "keydown") return false;
    if (event.key === "Enter") return !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
    return (event.shiftKey && event.key in ARROWS) || ["Delete", "Backspace"].includes(event.key) || isMenuKey(event)
      || (event.shiftKey && event.key === " ") || "adzy".includes(letter(event) || "-");
  };

  // Whether the key was one of these.
  function pressed(params) {
    const { event } = params;
    const key = letter(event);
    if (event.shiftKey && event.key in ARROWS) move(ARROWS[event.key], key !== "");
    else if (event.shiftKey && event.key === " ") {
      begin(corner(params.node.rowIndex, params.data?.id ?? null, columns()[0]), { rows: true });
    } else if (isMenuKey(event)) {
      const box = event.target.getBoundingClientRect();
      showMenu(box.left + 8, box.bottom);
    } else if (key === "a") selectAll();
    else if (key === "d") send("grid_fill_down");
    else if (event.key === "Delete" || event.key === "Backspace") send("grid_clear");
    else if (key === "z" || key === "y") {
      const isUndo = key === "z" && !event.shiftKey;
      if (!tablewright.unsent.isRefused()) emitEvent(isUndo ? "grid_undo" : "grid_redo", {});
    }
    else {
      if (event.key in ARROWS || event.key === "Tab" || event.key === "Enter") clear();
      return false;
    }
    event.preventDefault();
    return true;
  }

  // The focus went elsewhere: what was selected is not what is meant any more.
  function focused(params) {
    if (state.dragging || params.rowIndex == null || !params.column || !state.ranges.length) return;
    if (!isSelected(params.rowIndex, params.column.getColId())) clear();
  }

  // ── what the server is told ──

  function picked() {
    const spans = state.ranges.map((range) => {
      const { top, bottom } = bounds(range);
      return { first: top.id, last: bottom.id, rows: bottom.index - top.index + 1 };
    });
    const wide = last() ? bounds(last()).columns : [];
    return { spans, fields: wide, query: tablewright.grid.query() };
  }

  function send(name, more = {}) {
    if (ensure() && !tablewright.unsent.isRefused()) emitEvent(name, { ...picked(), ...more });
  }

  // ── the clipboard ──

  const quoted = (text) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  // The selection as a text, or null where some of it is not in the browser.
  function localText() {
    const lines = [];
    for (const range of state.ranges) {
      const { top, bottom, columns: within } = bounds(range);
      if ((bottom.index - top.index + 1) * within.length > 20_000) return null;
      for (let index = top.index; index <= bottom.index; index++) {
        const data = rowAt(index)?.data;
        if (!data) return null;
        const cells = within.map((column) => data.cells[column] ?? { text: "" });
        if (cells.some((cell) => cell.cut)) return null;
        lines.push(cells.map((cell) => quoted(cell.whole ?? cell.text ?? "")).join("\t"));
      }
    }
    return lines.join("\n");
  }

  async function fetchText(format = "") {
    const { spans, fields, query } = picked();
    const address = `/page-data/tables/${encodeURIComponent(query.table)}/cells?format=${format}`;
    const answer = await fetch(address, {
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ spans, fields, query }),
    });
    if (answer.ok) return answer.text();
    const { error } = await answer.json();
    throw new Error([error.message, error.kept, error.advice].filter(Boolean).join(" "));
  }

  const notice = (text, good = true) => emitEvent("grid_notice", { text, good });

  const isElsewhere = (event) => !state.api || state.api.getEditingCells().length > 0
    || Boolean(event.target.closest?.("input, textarea, .q-dialog, .tw-panel")) || String(window.getSelection()) !== "";

  async function fetchAndCopy(format = "") {
    try {
      const text = await fetchText(format);
      try {
        await navigator.clipboard.writeText(text);
        notice(t("Copied."));
      } catch {
        state.fetched = text;
        notice(t("Press Ctrl+C again to copy: these cells had to be loaded first."));
      }
      return true;
    } catch (error) {
      const isTold = error instanceof Error && error.constructor === Error;
      notice(isTold ? error.message : t("Nothing was copied: the server did not send these cells."), false);
      return false;
    }
  }

  // Also where the focus is on nothing, but something is selected here.
  const isHere = () => Boolean(document.activeElement?.closest(".tw-sheet"))
    || (document.activeElement === document.body && state.ranges.length > 0);

  // On a table's page, all means all of the table, wherever the focus is; in what is typed and in the panel, it is their text.
  function selectedAll(event) {
    const isOther = event.defaultPrevented || letter(event) !== "a" || event.shiftKey || event.altKey;
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable=true], .q-dialog, .q-menu, .tw-panel");
    if (isOther || isTyping || document.querySelector(".q-dialog") || state.api.getEditingCells().length) return;
    event.preventDefault();
    selectAll();
  }

  function copied(event, isCut) {
    if (isElsewhere(event) || !isHere() || !ensure()) return;
    event.preventDefault();
    const text = state.fetched ?? localText();
    if (text === null) {
      fetchAndCopy().then((done) => isCut && done && send("grid_clear"));
      return;
    }
    event.clipboardData.setData("text/plain", text);
    if (isCut) send("grid_clear");
  }

  function paste(text) {
    if (!text.trim() || tablewright.unsent.isRefused()) return;
    ensure();
    const all = columns();
    const range = last() ? bounds(last()) : null;
    const block = {
      text, ...picked(),
      fields: range ? all.slice(all.indexOf(range.columns[0])) : all,
      width: range && !last().rows ? range.columns.length : 1,
    };
    // It is written as JSON twice on its way.
    const isTooLong = text.length > MOST_PASTED || JSON.stringify(JSON.stringify(block)).length > MOST_PASTED;
    emitEvent("grid_paste", isTooLong ? { is_too_long: true, lines: text.trimEnd().split("\n").length, query: tablewright.grid.query() } : block);
  }

  function pasted(event) {
    if (!state.mayEdit || isElsewhere(event)) return;
    event.preventDefault();
    paste(event.clipboardData.getData("text/plain"));
  }

  // ── the menu ──

  function showMenu(x, y) {
    if (!ensure()) return;
    const count = state.ranges.reduce((sum, range) => sum + Math.abs(range.anchor.index - range.head.index) + 1, 0);
    const one = isOneCell() ? last().anchor : null;
    const doc = (command) => () => document.execCommand(command);
    const fromClipboard = () => navigator.clipboard.readText().then(paste, () => notice(t("Press Ctrl+V to paste: this browser does not allow pasting from a menu.")));
    const look = [
      [t("Copy"), doc("copy")],
      [t("Copy as Markdown"), () => fetchAndCopy("md")],
      one && [t("Show evidence"), () => tablewright.grid.openAt(one.id, one.column)],
    ];
    const change = [
      [t("Cut"), doc("cut")], [t("Paste"), fromClipboard], [t("Fill down"), () => send("grid_fill_down"), count === 1],
      [t("Clear"), () => send("grid_clear")], null,
      [t("Find values…"), () => send("grid_ask")], [t("Recheck sources"), () => send("grid_recheck")], null,
      [t("Insert a row…"), () => emitEvent("grid_add_row", {})], [t("Delete row|Delete {count} rows", { count }), () => send("grid_delete_rows")],
    ];
    tablewright.menu.open(t("Selected cells"), [...look.filter(Boolean), ...(state.mayEdit ? change : [])], x, y);
  }

  function start(api, mayEdit) {
    Object.assign(state, { api, mayEdit });
    document.addEventListener("mouseup", () => { state.dragging = false; }, true);
    document.addEventListener("copy", (event) => copied(event, false));
    document.addEventListener("cut", (event) => copied(event, state.mayEdit));
    document.addEventListener("paste", pasted);
    document.addEventListener("keydown", selectedAll);
    const sheet = document.querySelector(".tw-sheet");
    sheet.addEventListener("mousedown", pressedOn, true);
    sheet.addEventListener("mouseover", draggedOver);
    sheet.addEventListener("contextmenu", (event) => {
      if (!event.target.closest(".ag-cell") || state.api.getEditingCells().length) return;
      event.preventDefault();
      showMenu(event.clientX, event.clientY);
    });
  }

  return { start, mark, takes, isOfEditor, pressed, focused, clear };
})();
