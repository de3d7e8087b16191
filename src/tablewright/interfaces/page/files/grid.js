// The grid's own half: asks for rows block by block, draws cells as text with a mark, and tells the server what people do.
// Nothing from a table is ever parsed as HTML: elements are made by hand and given their text.
window.tablewright = window.tablewright || {};

window.tablewright.grid = (() => {
  const t = (...given) => tablewright.t(...given);
  const MARKS = {
    high: ["✓", "high confidence"],
    medium: ["◐", "medium confidence"],
    low: ["?", "low confidence"],
    failed: ["✗", "looked up, not found"],
    flagged: ["⚑", "flagged"],
    own: ["", ""],
    empty: ["", "empty"],
  };
  const NUMBER = "tw:number";
  const PAUSES = [300, 1_000, 3_000]; // milliseconds before rows that did not come are asked for again
  const MOST_TYPED = 100_000;
  let moved = 0;
  // `next` is what is to be wanted as soon as no cell is being edited, `later` what is done then; `sort` counts sorts.
  const state = { api: null, wanted: {}, next: {}, later: new Map(), by: "[]", sort: 0, failed: false,
                  panelOpen: false, inPanel: false, opened: null };

  const cellOf = (params) => params.data?.cells?.[params.column.getColId()];

  const span = (className, text) => {
    const element = document.createElement("span");
    element.className = className;
    element.textContent = text;
    return element;
  };

  // The mark is drawn inside the cell, not by class rules of the grid: nine rules for each cell made scrolling slow.
  function draw(params) {
    const cell = cellOf(params);
    tablewright.selection.mark(params);
    if (!cell) return span("tw-cell", "");
    const [letter, meaning] = MARKS[cell.mark] || ["", ""];
    const right = params.right ? " tw-right" : "";
    const box = span(`tw-cell tw-is-${cell.mark}${right}${cell.saving ? " tw-is-saving" : ""}`, "");
    box.title = (cell.whole || cell.text || "") + (cell.note ? `\n(${cell.note})` : "");
    if (letter) {
      const sign = span("tw-sign", letter);
      sign.setAttribute("aria-label", t(meaning));
      sign.setAttribute("role", "img");
      box.append(sign);
    }
    box.append(cell.why ? span("tw-why", cell.why) : span("tw-value", cell.text));
    if (cell.judged) box.append(span("tw-judged", t("judged")));
    if (cell.disputed) box.append(span("tw-sign", "≠"));
    if (cell.stale) box.append(span("tw-sign", "↻"));
    if (cell.proposed) box.append(span("tw-new", t("new")));
    return box;
  }

  function drawNumber(params) {
    tablewright.selection.mark(params);
    return span("", String(params.data?.id ?? ""));
  }

  const valueOf = (params) => cellOf(params)?.whole ?? cellOf(params)?.text ?? "";

  // ── rows ──

  function say(...parts) {
    document.getElementById("tw-found")?.replaceChildren(...parts);
  }

  function sayFailed() {
    state.failed = true;
    const again = document.createElement("button");
    again.type = "button";
    again.className = "tw-again";
    again.textContent = t("Try again");
    again.onclick = () => {
      state.failed = false;
      say(t("Searching …"));
      state.api?.refreshInfiniteCache();
    };
    say(`${t("Rows could not be loaded.")} `, again);
  }

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  // Retry if the server is busy or restarting, but not if it refuses.
  async function load(address, isWanted) {
    for (let tried = 0; ; tried++) {
      let answer = null;
      try {
        answer = await fetch(address, { credentials: "same-origin" });
        if (answer.ok) return await answer.json();
      } catch {
        answer = null;
      }
      const saidNo = answer && answer.status < 500 && answer.status !== 429;
      if (saidNo || tried >= PAUSES.length || !isWanted()) throw new Error("no rows");
      await pause(PAUSES[tried]);
    }
  }

  // What the server is told so that it finds the same rows in the same order.
  function query() {
    const { view, ...rest } = state.wanted;
    const [by] = JSON.parse(state.by);
    return { ...rest, sort: by?.colId ?? "", descending: by?.sort === "desc", view: `${view}.${state.sort}` };
  }

  function addressOf(start, end) {
    const { table, ...rest } = query();
    const asked = new URLSearchParams({ start, end, ...rest });
    return `/page-data/tables/${encodeURIComponent(table)}/rows?${asked}`;
  }

  // Long rows come in several answers; each says where the next begins.
  async function loadBlock({ startRow, endRow }, isWanted) {
    const block = await load(addressOf(startRow, endRow), isWanted);
    while (block.next != null) {
      const { rows, next } = await load(addressOf(block.next, endRow), isWanted);
      block.rows.push(...rows);
      block.next = next;
    }
    return block;
  }

  const datasource = () => ({
    getRows(params) {
      const by = JSON.stringify(params.sortModel);
      if (by !== state.by) {
        Object.assign(state, { by, sort: state.sort + 1, failed: false });
        tablewright.selection.clear();
      }
      const { wanted, sort } = state;
      const isWanted = () => state.wanted === wanted && state.sort === sort;
      loadBlock(params, isWanted).then(
        ({ rows, total, note }) => {
          params.successCallback(rows, total);
          if (total) state.api?.hideOverlay();
          else state.api?.showNoRowsOverlay();
          const count = t("{count} row|{count} rows", { count: total });
          if (isWanted() && !state.failed) say(note ? `${count} · ${note}` : count);
        },
        () => {
          params.failCallback();
          if (isWanted()) sayFailed();
        },
      );
    },
  });

  // Under an open editor the rows stay where they are: they would take it along, and what is typed, to another row.
  function whenIdle(name, act) {
    if (state.api?.getEditingCells().length) state.later.set(name, act);
    else act();
  }

  function settled() {
    const acts = [...state.later];
    state.later.clear();
    setTimeout(() => acts.forEach(([name, act]) => whenIdle(name, act)));
  }

  function want() {
    state.wanted = state.next;
    state.failed = false;
  }

  // ── cells ──

  // Of what is cut the browser has the beginning only, so it is edited in a window that has all of it.
  const editable = (params) => !cellOf(params)?.cut;

  function editorOf(params) {
    if (!/[\r\n]/.test(valueOf(params))) return { component: "agTextCellEditor" };
    return { component: "agLargeTextCellEditor", popup: true, params: { maxLength: MOST_TYPED, rows: 8, cols: 56 } };
  }

  function edited(params) {
    const field = params.column.getColId();
    const text = params.newValue ?? "";
    if (text === valueOf(params).replace(/\r\n?/g, "\n")) return false;
    params.data.cells[field] = { ...(params.data.cells[field] || {}), text, whole: undefined, why: undefined, saving: true };
    tablewright.unsent.send({ row_id: params.data.id, field, text });
    return true;
  }

  function editedApart(params) {
    if (!params.colDef.editable || editable(params)) return false;
    emitEvent("grid_edit_apart", { row_id: params.data.id, field: params.column.getColId() });
    return true;
  }

  const doubled = (params) => editedApart(params);

  function open(params, byKey = false) {
    const field = params.column.getColId();
    if (!params.data || field === NUMBER) return;
    openAt(params.data.id, field, byKey);
  }

  function openAt(rowId, field, byKey = false) {
    clearTimeout(moved);
    state.opened = { row_id: rowId, field };
    emitEvent("grid_open", { ...state.opened, by_key: byKey });
  }

  // Whoever selects a range does not ask for the evidence of its last cell.
  function clicked(params) {
    const { shiftKey, ctrlKey, metaKey } = params.event;
    if (!(shiftKey || ctrlKey || metaKey)) open(params);
  }

  // The panel takes its place from the grid, which may push the cell out of sight.
  function showOpened() {
    const node = state.api?.getRowNode(String(state.opened?.row_id));
    if (!node || !state.panelOpen) return;
    state.api.ensureIndexVisible(node.rowIndex);
    if (state.api.getColumn(state.opened.field)) state.api.ensureColumnVisible(state.opened.field);
  }

  function focused(params) {
    tablewright.selection.focused(params);
    if (!state.panelOpen || params.rowIndex == null || !params.column) return;
    clearTimeout(moved);
    moved = setTimeout(() => {
      const data = params.api.getDisplayedRowAtIndex(params.rowIndex)?.data;
      const isOpen = data?.id === state.opened?.row_id && params.column.getColId() === state.opened?.field;
      if (!isOpen) open({ data, column: params.column });
    }, 180);
  }

  function pressed(params) {
    const { key } = params.event;
    if (tablewright.selection.isOfEditor(params.event)) return;
    if (params.api.getEditingCells().length || tablewright.selection.pressed(params)) return;
    if (key === " ") {
      params.event.preventDefault();
      open(params, true);
    } else if ((key === "Enter" || key === "F2") && editedApart(params)) {
      params.event.preventDefault();
    } else if (key === "Enter" && params.data && params.colDef.editable) {
      params.event.preventDefault();
      params.api.startEditingCell({ rowIndex: params.rowIndex, colKey: params.column });
      toTheEnd();
      setTimeout(toTheEnd);
    }
  }

  // With all of the text selected, as the grid does it, the next key would erase what was typed before.
  function toTheEnd() {
    const input = document.activeElement?.closest?.(".ag-cell-editor input, .ag-cell-inline-editing input");
    input?.setSelectionRange(input.value.length, input.value.length);
  }

  // ── the panel beside it ──

  // It takes a moment until it is there and can be seen.
  function focusSoon(id, tries = 20) {
    const element = getHtmlElement(id);
    element?.focus();
    if (document.activeElement !== element && tries) setTimeout(() => focusSoon(id, tries - 1), 50);
  }

  // Wherever the focus is, and when the key comes up: that closes the topmost dialog, which must not be the one in which
  // we ask. In an open menu, Escape closes the menu.
  function escaped(event) {
    const asking = document.querySelector(".tw-asking");
    const isCovered = document.querySelector(".q-menu") || document.querySelectorAll(".q-dialog").length > 1;
    if (event.key === "Escape" && asking && !isCovered) asking.dispatchEvent(new CustomEvent("leave"));
  }

  // A run that found nothing leaves the value that is there; the note tells so once the rows are read again.
  const stays = (before, after) => after.proposed && after.why && before?.text && !before.proposed;

  const found = (before, after) =>
    Object.fromEntries(Object.entries(after).filter(([name, cell]) => !stays(before[name], cell)));

  const apiOf = (id) => getElement(id)?.api;

  // A phone has no room for row numbers. The grid unpins them where it becomes narrow, and does not pin them again.
  function showNumbers() {
    const column = state.api?.getColumn(NUMBER), isWide = window.innerWidth >= 600;
    if (column && (column.isVisible() !== isWide || column.getPinned() !== "left"))
      state.api.applyColumnState({ state: [{ colId: NUMBER, hide: !isWide, pinned: "left" }] });
  }

  return {
    draw, drawNumber, valueOf, edited, editable, editorOf, datasource, doubled, focused, pressed, settled, clicked, openAt, query,
    start(wanted) { state.wanted = state.next = wanted; },
    resized: () => setTimeout(() => { showNumbers(); showOpened(); }),
    ready(params) {
      state.api = params.api;
      tablewright.selection.start(params.api, params.context.mayEdit);
      tablewright.columns.start(params.api, params.context);
      tablewright.unsent.start(state.wanted.table);
      const key = params.api.getColumns()[1];
      if (key && window.innerWidth < 600) params.api.setColumnWidths([{ key: key.getColId(), newWidth: 150 }]);
      showNumbers();
      document.addEventListener("keyup", escaped);
      document.addEventListener("focusin", (event) => { state.inPanel = Boolean(event.target.closest?.(".tw-panel")); });
    },
    // With `show`, that column comes into view: it is new.
    columns(id, columns, show) {
      whenIdle("columns", () => {
        getElement(id)?.run_grid_method("setGridOption", "columnDefs", columns);
        if (show) setTimeout(() => apiOf(id)?.ensureColumnVisible(show, "end"));
      });
    },
    // Show other rows, or the same again; the present ones stay until the answer has arrived.
    look(id, wanted) {
      state.next = wanted;
      whenIdle("look", () => {
        want();
        tablewright.selection.clear();
        say(t("Searching …"));
        apiOf(id)?.setGridOption("datasource", datasource());
      });
    },
    refresh(id, wanted) {
      state.next = wanted;
      whenIdle("refresh", () => {
        want();
        apiOf(id)?.refreshInfiniteCache();
      });
    },
    showProposed(id, fields) {
      const lacks = ({ data }) => data && fields.some((field) => !data.cells[field]?.proposed);
      whenIdle("proposed", () => {
        const api = apiOf(id);
        if (api?.getRenderedNodes().some(lacks)) api.refreshInfiniteCache();
      });
    },
    update(id, rows) {
      const api = apiOf(id);
      tablewright.unsent.written(rows.filter((row) => row.whole).map((row) => row.id));
      const edited = new Set(api?.getEditingCells().map((cell) => api.getDisplayedRowAtIndex(cell.rowIndex)?.id));
      const put = (row) => {
        const node = api?.getRowNode(String(row.id));
        if (!node?.data) return;
        const cells = row.whole ? row.cells : { ...node.data.cells, ...found(node.data.cells, row.cells) };
        node.setData({ ...node.data, cells });
      };
      // New data of a row closes its open editor, and what is being typed would be lost.
      for (const row of rows) edited.has(String(row.id)) ? whenIdle(Symbol("row"), () => put(row)) : put(row);
    },
    // Its content may have been rebuilt under the focus, which is then lost.
    showPanel(id, heading, toIt) {
      state.panelOpen = true;
      showOpened();
      if (toIt || (state.inPanel && document.activeElement === document.body)) focusSoon(heading);
    },
    leavePanel(id) {
      state.panelOpen = false;
      if (!state.inPanel || !state.opened) return;
      state.inPanel = false;
      const node = apiOf(id)?.getRowNode(String(state.opened.row_id));
      if (node) apiOf(id).setFocusedCell(node.rowIndex, state.opened.field);
    },
  };
})();
