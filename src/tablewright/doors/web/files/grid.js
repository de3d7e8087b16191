// The grid's own half: asks for rows block by block, draws cells as text with a mark, and tells the server what people do.
// Nothing from a table is ever parsed as HTML: elements are made by hand and given their text.
window.tablewright = window.tablewright || {};

window.tablewright.grid = (() => {
  const MARKS = {
    high: ["✓", "high confidence"],
    medium: ["◐", "medium confidence"],
    low: ["?", "low confidence"],
    failed: ["✗", "looked for, not found"],
    flagged: ["⚑", "flagged"],
    own: ["", ""],
    empty: ["", "empty"],
  };
  let moved = 0;
  const state = { wanted: {}, panelOpen: false };

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
    if (!cell) return span("tw-cell", "");
    const [letter, meaning] = MARKS[cell.mark] || ["", ""];
    const box = span(`tw-cell tw-is-${cell.mark}${cell.saving ? " tw-is-saving" : ""}`, "");
    box.title = (cell.whole || cell.text || "") + (cell.note ? `\n(${cell.note})` : "");
    if (letter) {
      const sign = span("tw-sign", letter);
      sign.setAttribute("aria-label", meaning);
      sign.setAttribute("role", "img");
      box.append(sign);
    }
    box.append(cell.why ? span("tw-why", cell.why) : span("tw-value", cell.text));
    if (cell.disputed) box.append(span("tw-sign", "≠"));
    if (cell.stale) box.append(span("tw-sign", "↻"));
    if (cell.proposed) box.append(span("tw-new", "new"));
    return box;
  }

  const numberOf = (params) => params.data?.id ?? "";
  const valueOf = (params) => cellOf(params)?.whole ?? cellOf(params)?.text ?? "";

  function edited(params) {
    const field = params.column.getColId();
    const text = params.newValue ?? "";
    if (text === valueOf(params)) return false;
    params.data.cells[field] = { ...(params.data.cells[field] || {}), text, whole: undefined, why: undefined, saving: true };
    emitEvent("grid_edit", { row_id: params.data.id, field, text });
    return true;
  }

  const datasource = () => ({
    getRows(params) {
      const { table, ...rest } = state.wanted;
      const query = new URLSearchParams({ start: params.startRow, end: params.endRow, ...rest });
      const [by] = params.sortModel;
      if (by) {
        query.set("sort", by.colId);
        query.set("descending", by.sort === "desc");
      }
      fetch(`/page-data/tables/${encodeURIComponent(table)}/rows?${query}`, { credentials: "same-origin" })
        .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.status))))
        .then(({ rows, total }) => {
          params.successCallback(rows, total);
          const found = document.getElementById("tw-found");
          if (found) found.textContent = `${total.toLocaleString("en")} ${total === 1 ? "row" : "rows"}`;
        })
        .catch(() => params.failCallback());
    },
  });

  const open = (params) => {
    const field = params.column.getColId();
    if (!params.data || field === "tw:number") return;
    clearTimeout(moved);
    state.opened = `${params.data.id} ${field}`;
    emitEvent("grid_open", { row_id: params.data.id, field });
  };

  function focused(params) {
    if (!state.panelOpen || params.rowIndex == null || !params.column) return;
    clearTimeout(moved);
    moved = setTimeout(() => {
      const node = params.api.getDisplayedRowAtIndex(params.rowIndex);
      if (`${node?.data?.id} ${params.column.getColId()}` !== state.opened) open({ data: node?.data, column: params.column });
    }, 180);
  }

  function pressed(params) {
    if (params.event.key === " " && !params.api.getEditingCells().length) {
      params.event.preventDefault();
      open(params);
    }
  }

  function pasted(api, event) {
    if (api.getEditingCells().length || event.target.closest("input, textarea")) return;
    const text = event.clipboardData.getData("text/plain");
    if (!text.trim()) return;
    event.preventDefault();
    const at = api.getFocusedCell();
    const node = at ? api.getDisplayedRowAtIndex(at.rowIndex) : null;
    emitEvent("grid_paste", { text: text.slice(0, 2_000_000), row_id: node?.data?.id ?? null,
                              field: at && at.column.getColId() !== "tw:number" ? at.column.getColId() : null });
  }

  const apiOf = (id) => getElement(id)?.api;

  return {
    draw, numberOf, valueOf, edited, datasource, open, focused, pressed,
    start(wanted) { state.wanted = wanted; },
    ready(params) {
      if (window.innerWidth < 600) {
        const key = params.api.getColumns()[1];
        const state = [{ colId: "tw:number", hide: true }, { colId: key?.getColId(), width: 150 }];
        params.api.applyColumnState({ state });
      }
      document.addEventListener("paste", (event) => pasted(params.api, event));
    },
    // Look anew at the same or at other rows; what is shown stays until the answer is there.
    look(id, wanted) {
      state.wanted = wanted;
      const found = document.getElementById("tw-found");
      if (found) found.textContent = "Looking …";
      apiOf(id)?.setGridOption("datasource", datasource());
    },
    refresh(id, wanted) {
      state.wanted = wanted;
      apiOf(id)?.refreshInfiniteCache();
    },
    update(id, rows) {
      const api = apiOf(id);
      for (const row of rows) {
        const node = api?.getRowNode(String(row.id));
        if (!node?.data) continue;
        const cells = row.whole ? row.cells : { ...node.data.cells, ...row.cells };
        node.setData({ ...node.data, cells });
      }
    },
    panel(isOpen) { state.panelOpen = isOpen; },
  };
})();
