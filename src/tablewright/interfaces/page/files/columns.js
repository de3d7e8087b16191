// The heads of the columns: name, unit, the menu; and how they are laid out, which the server remembers.
window.tablewright = window.tablewright || {};

window.tablewright.columns = (() => {
  const t = (...given) => tablewright.t(...given);
  const NUMBER = "tw:number";
  const state = { api: null, mayEdit: false, filtered: new Set(), applying: false, later: 0 };

  const part = (tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  };

  // Inside the grid's own head, which sorts when it is clicked.
  class Head {
    init(params) {
      const id = params.column.getColId();
      const { unit, asked, right } = params.column.getColDef().context || {};
      this.gui = part("span", `tw-head${right ? " tw-head-right" : ""}`, "");
      this.gui.append(part("span", "tw-head-name", params.displayName));
      if (unit) this.gui.append(part("span", "tw-head-unit", unit));
      if (asked) this.gui.append(part("span", "tw-head-asked", ""));
      const filtered = part("span", "tw-head-filtered", "▼");
      filtered.hidden = !state.filtered.has(id);
      filtered.dataset.column = id;
      this.gui.append(filtered);
      if (id === NUMBER) return;
      const button = part("button", "tw-head-menu", "⋮");
      button.type = "button";
      button.tabIndex = -1;
      button.setAttribute("aria-label", t("Menu of {name}", { name: params.displayName }));
      for (const name of ["pointerdown", "mousedown", "touchstart"]) button.addEventListener(name, (event) => event.stopPropagation());
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        const box = button.getBoundingClientRect();
        showMenu(id, box.left, box.bottom);
      });
      this.button = button;
      (params.eGridHeader ?? this.gui).append(button);
    }
    destroy() { this.button?.remove(); }
    getGui() { return this.gui; }
    refresh() { return false; }
  }

  // ── the menu ──

  const sortBy = (id, sort) => state.api.applyColumnState({ state: [{ colId: id, sort }], defaultState: { sort: null } });

  function move(id, by) {
    const all = state.api.getAllDisplayedColumns().map((column) => column.getColId());
    const to = state.api.getAllGridColumns().findIndex((column) => column.getColId() === all[all.indexOf(id) + by]);
    if (to > 0) state.api.moveColumns([id], to);
  }

  function showMenu(id, x, y) {
    const { key, asked, proposed } = state.api.getColumn(id).getColDef().context || {};
    const sorted = state.api.getColumn(id).getSort();
    const ask = (act) => () => emitEvent("grid_column", { act, column: id });
    const own = state.mayEdit && !proposed;
    const entries = [
      [t("Sort ascending"), () => sortBy(id, "asc"), sorted === "asc"],
      [t("Sort descending"), () => sortBy(id, "desc"), sorted === "desc"],
      sorted && [t("Clear sorting"), () => sortBy(id, null)],
      [t("Filter…"), ask("filter")],
      [t("Statistics"), ask("statistics")], null,
      own && [t("Edit column…"), ask("edit")],
      own && asked && [t("Find missing values…"), ask("fill")],
      own && asked && [t("Edit question and run again…"), ask("rerun")],
      own && [t("Recheck sources"), ask("recheck")],
      own && asked && [t("Schedule…"), ask("schedule")],
      !key && null,
      !key && [t("Move left"), () => move(id, -1)],
      !key && [t("Move right"), () => move(id, 1)],
      !key && [t("Hide"), () => state.api.setColumnsVisible([id], false)],
      own && !key && [t("Delete column"), ask("delete")],
    ];
    tablewright.menu.open(t("Column {name}", { name: id }), entries.filter((each) => each !== false && each !== undefined && each !== ""), x, y);
  }

  function menuFor(event, x, y) {
    const id = event.target.closest?.(".ag-header-cell")?.getAttribute("col-id");
    if (!id || id === NUMBER) return;
    event.preventDefault();
    event.stopPropagation();
    const box = event.target.closest(".ag-header-cell").getBoundingClientRect();
    showMenu(id, x ?? box.left + 8, y ?? box.bottom);
  }

  // ── the layout ──

  function layout() {
    const columns = state.api.getColumnState().filter((each) => each.colId !== NUMBER);
    const by = columns.find((each) => each.sort);
    return {
      columns: columns.map((each) => ({ name: each.colId, width: Math.round(each.width), hidden: Boolean(each.hide) })),
      sort: by?.colId ?? "", descending: by?.sort === "desc",
    };
  }

  // Not while a layout is being applied; and once for many steps of a drag.
  function changed(event) {
    if (state.applying || event.finished === false || event.source === "api" && event.type === "columnResized") return;
    clearTimeout(state.later);
    state.later = setTimeout(() => emitEvent("grid_layout", layout()), 300);
  }

  function apply(view) {
    if (!state.api) return;
    state.applying = true;
    const known = view.columns.map((each) => ({
      colId: each.name, width: each.width || undefined, hide: each.hidden,
      sort: each.name === view.sort ? (view.descending ? "desc" : "asc") : null,
    }));
    state.api.applyColumnState({ state: [{ colId: NUMBER }, ...known], applyOrder: known.length > 0, defaultState: { sort: null, hide: false } });
    if (view.reset) state.api.resetColumnState();
    wrap(view.wrap);
    setTimeout(() => { state.applying = false; });
  }

  function wrap(on) {
    document.querySelector(".tw-sheet")?.classList.toggle("tw-wrapped", Boolean(on));
    const height = on ? 92 : 36;
    if (state.api.getGridOption("rowHeight") === height) return;
    state.api.setGridOption("rowHeight", height);
    state.api.resetRowHeights();
  }

  function start(api, context) {
    Object.assign(state, { api, mayEdit: context.mayEdit });
    const sheet = document.querySelector(".tw-sheet");
    sheet.addEventListener("contextmenu", (event) => menuFor(event, event.clientX, event.clientY));
    sheet.addEventListener("keydown", (event) => {
      const isMenuKey = event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey) || (event.key === "ArrowDown" && event.altKey);
      if (isMenuKey && event.target.closest(".ag-header-cell")) menuFor(event);
    }, true);
    if (context.view) apply(context.view);
  }

  function filtered(names) {
    state.filtered = new Set(names);
    for (const sign of document.querySelectorAll(".tw-head-filtered")) sign.hidden = !state.filtered.has(sign.dataset.column);
  }

  return { Head, start, changed, apply, wrap, filtered };
})();
