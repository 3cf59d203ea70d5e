"use strict";
(() => {
  // All text reaches the page by text nodes: nothing here makes markup of a string.
  const cases = JSON.parse(document.getElementById("data").textContent).cases;
  const byId = new Map(cases.map((one) => [one.nodeid, one]));
  const $ = (id) => document.getElementById(id);
  const PAGE = 200;
  const BAD = ["failed", "unscored", "gated", "known", "xpassed", "not_run"];
  const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  const MARKS = /\[-([\s\S]*?)-\]|\{\+([\s\S]*?)\+\}/g;

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") node.className = value;
      else if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child != null));
    return node;
  };

  // What can't be seen, or turns the direction of a line, is written out.
  const shown = (text) => {
    const pieces = document.createDocumentFragment();
    let end = 0;
    text = text.replace(/\r\n/g, "\n");
    for (const found of text.matchAll(UNSEEN)) {
      pieces.append(text.slice(end, found.index));
      const code = found[0].charCodeAt(0);
      const name = code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
      pieces.append(make("span", { class: "esc" }, name));
      end = found.index + found[0].length;
    }
    pieces.append(text.slice(end));
    return pieces;
  };

  const diffed = (text) => {
    const pieces = document.createDocumentFragment();
    let end = 0;
    for (const found of text.matchAll(MARKS)) {
      pieces.append(shown(text.slice(end, found.index)));
      const [tag, inner] = found[1] === undefined ? ["ins", found[2]] : ["del", found[1]];
      pieces.append(make(tag, {}, shown(inner)));
      end = found.index + found[0].length;
    }
    pieces.append(shown(text.slice(end)));
    return pieces;
  };

  const number = (value) => typeof value !== "number" ? (value == null ? "–" : String(value)) : Number.isInteger(value) ? String(value) : value.toPrecision(3).replace(/\.?0+$/, "");
  const seconds = (value) => value == null ? "" : value < 0.0995 ? `${Math.round(value * 1000)} ms` : `${value.toPrecision(3)} s`;
  const badge = (word, kind) => make("span", { class: `badge ${kind}-${word}` }, word.replace("_", " "));

  // --- the table ---------------------------------------------------------------------

  const state = { found: cases, sort: null, down: false, count: PAGE };
  const filters = ["status", "change", "tag", "test", "model"];
  const values = {
    status: (one) => [one.status], change: (one) => one.change ? [one.change] : [],
    tag: (one) => one.tags, test: (one) => [one.test], model: (one) => one.model ? [one.model] : [],
  };
  const haystack = (one) => one.hay ??= [
    one.nodeid, one.reason, one.source, one.tags.join(" "), one.model, one.why,
    ...Object.values(one.row),
    ...one.samples.flatMap((sample) => [sample.reply, ...sample.calls.filter((call) => call.tested).flatMap((call) => call.prompt.map((part) => part[1]))]),
  ].join("\n").toLowerCase();

  const RANK = ["failed", "unscored", "gated", "known", "xpassed", "xfailed", "not_run", "skipped", "passed"];
  const COLUMNS = [
    ["status", "", (one) => RANK.indexOf(one.status)], ["case", "", (one) => one.case], ["test", "", (one) => one.test],
    ["score", "n", (one) => one.value], ["reason", "why", (one) => one.reason], ["model", "who", (one) => one.model],
    ["time", "n took", (one) => one.seconds], ["row", "place", (one) => one.source],
  ];

  const fill = () => {
    for (const name of filters) {
      const counts = new Map();
      for (const one of cases) for (const value of values[name](one)) counts.set(value, (counts.get(value) ?? 0) + 1);
      const select = $(`f-${name}`);
      select.append(make("option", { value: "" }, "all"));
      if (name === "status" && cases.some((one) => BAD.includes(one.status))) select.append(make("option", { value: "*" }, "not passed"));
      for (const [value, count] of counts) select.append(make("option", { value: `=${value}` }, shown(value.slice(0, 60)), ` (${count})`));
      select.parentElement.hidden = counts.size === 0;
      if (counts.size === 0) select.parentElement.style.display = "none";
    }
  };

  const compare = (left, right) => {
    if (left === right) return 0;
    if (left == null || left === "") return 1;
    if (right == null || right === "") return -1;
    if (typeof left === "number" && typeof right === "number") return left - right;
    return String(left).localeCompare(String(right), undefined, { numeric: true });
  };

  const search = () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = filters.map((name) => [name, $(`f-${name}`).value]).filter(([, value]) => value);
    state.found = cases.filter((one) =>
      chosen.every(([name, value]) => value === "*" ? BAD.includes(one.status) : values[name](one).includes(value.slice(1)))
      && words.every((word) => haystack(one).includes(word)));
    if (state.sort !== null) {
      const key = COLUMNS[state.sort][2];
      const sign = state.down ? -1 : 1;
      const blank = (value) => value == null || value === "";
      // What has no value stands last in both directions.
      state.found.sort((left, right) => {
        const [a, b] = [key(left), key(right)];
        return blank(a) || blank(b) ? compare(a, b) : sign * compare(a, b);
      });
    }
    state.count = PAGE;
    draw();
  };

  const row = (one) => make("tr", {},
    make("td", {}, badge(one.status, "b"), one.change === "regressed" || one.change === "fixed" ? make("div", {}, badge(one.change, "c")) : null),
    make("td", {}, make("button", { type: "button", class: "link", dir: "auto", "data-case": one.nodeid, on: { click: () => open(one) } }, shown(one.case))),
    make("td", { dir: "auto" }, shown(one.test), ...Object.entries(one.params).map(([name, value]) => make("div", { class: "quiet" }, shown(`${name}=${value}`)))),
    make("td", { class: "n" }, number(one.value)),
    make("td", { class: "why", dir: "auto" }, shown(one.reason.length > 300 ? `${one.reason.slice(0, 300)}…` : one.reason)),
    make("td", { class: "who" }, shown(one.model)),
    make("td", { class: "n took" }, seconds(one.seconds)),
    make("td", { class: "place" }, shown(one.source ?? "")));

  const draw = () => {
    const head = make("tr", {}, ...COLUMNS.map(([name, kind], place) => make("th", {
      scope: "col", class: kind, "aria-sort": state.sort === place ? (state.down ? "descending" : "ascending") : "none",
    }, make("button", { type: "button", class: "sort", "data-sort": name, on: { click: () => order(place) } }, name))));
    const body = make("tbody", {}, ...state.found.slice(0, state.count).map(row));
    $("table").replaceChildren(make("table", {}, make("caption", { class: "unseen" }, "Cases"), make("thead", {}, head), body));
    $("count").textContent = state.found.length === cases.length ? `${cases.length} cases` : `${state.found.length} of ${cases.length} cases`;
    const left = state.found.length - state.count;
    $("more").hidden = left <= 0;
    $("more").textContent = `Show ${Math.min(left, PAGE)} more of ${left}`;
  };

  const order = (place) => {
    state.down = state.sort === place && !state.down;
    state.sort = place;
    search();
    $("table").querySelectorAll("thead button")[place].focus();
  };

  // --- one case ----------------------------------------------------------------------

  const copyButton = (text, what) => make("button", {
    type: "button", class: "plain copy", "aria-label": `Copy ${what}`,
    on: { click: async (event) => {
      const button = event.currentTarget;
      try { await navigator.clipboard.writeText(text); } catch {
        const area = make("textarea", { "aria-hidden": "true" });
        area.value = text;
        $("case").append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
      }
      button.textContent = "Copied";
    } },
  }, "Copy");

  const text = (title, content, kind = "") => content == null ? null : make("section", { class: `text ${kind}` },
    make("h4", { dir: "auto" }, shown(title)),
    make("pre", { dir: "auto", tabindex: "0", "aria-label": title }, content === "" ? make("span", { class: "quiet" }, "(an empty text)") : shown(content)));

  const lines = (content, title) => make("pre", { class: "lines", tabindex: "0", "aria-label": title }, diffed(content.join("\n")));

  const gauge = (check) => {
    const { value, low = 0, high = 1, threshold } = check;
    if (![value, low, high].every((part) => typeof part === "number" && Number.isFinite(part)) || high <= low) return make("span");
    const place = (part) => `${Math.max(0, Math.min(100, (part - low) / (high - low) * 100))}%`;
    const fill = make("i");
    fill.style.width = place(value);
    const mark = typeof threshold === "number" ? make("b") : null;
    if (mark) mark.style.insetInlineStart = `min(${place(threshold)}, calc(100% - 2px))`;
    return make("span", { class: `gauge${check.passed === false ? " off" : ""}`, "aria-hidden": "true" }, fill, mark);
  };

  const votes = (judge) => {
    const said = judge.votes ?? judge.orders ?? (judge.members ?? []).flatMap((one) => one.orders ?? []);
    if (!said || said.length === 0) return null;
    const place = judge.votes ? (one) => `vote ${one.index + 1}` : (one, n) => n % 2 ? "swapped" : "first";
    return make("table", {}, make("caption", { class: "unseen" }, "Votes"),
      make("thead", {}, make("tr", {}, ...["judge", "vote", "said", "reason"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...said.map((one, n) => make("tr", {}, make("td", {}, shown(String(one.judge || "judge"))), make("td", {}, place(one, n)),
        make("td", {}, shown(String(one.said ?? "no verdict"))), make("td", { dir: "auto" }, shown(one.reason || one.cause || ""))))));
  };

  const score = (check) => make("div", {},
    make("div", { class: "score" },
      make("b", { dir: "auto" }, shown(check.name)), gauge(check),
      make("span", { class: "n" }, `${number(check.value)}${typeof check.threshold === "number" ? ` (needs ${check.operator} ${number(check.threshold)})` : ""}`),
      badge(check.passed === true ? "passed" : check.passed === false ? "failed" : "unscored", "b"),
      check.reason ? make("span", { class: "reason", dir: "auto" }, shown(check.reason)) : null),
    check.explanation ? lines(check.explanation, `difference of ${check.name}`) : null,
    check.judge ? votes(check.judge) : null);

  const usage = (call) => [
    call.model ?? call.client, call.origin, call.finish && `finish ${call.finish}`, seconds(call.seconds),
    call.tokens?.some((part) => part != null) && `tokens ${call.tokens[0] ?? "?"} in, ${call.tokens[1] ?? "?"} out`,
    call.cost != null && `cost $${number(call.cost)}`,
  ].filter(Boolean).join(" · ");

  const call = (one, isOpen) => make("details", { open: isOpen },
    make("summary", {}, shown(one.tested ? "Prompt" : `${one.role}: ${one.client}`), " ", make("span", { class: "quiet" }, shown(usage(one)))),
    ...one.prompt.map(([role, content]) => text(role, content, "prompt")),
    text("reasoning", one.reasoning), text("reply", one.reply), text("error", one.error),
    one.tools ? text("tool calls", JSON.stringify(one.tools, null, 2)) : null,
    one.curl ? make("details", {}, make("summary", {}, "curl", copyButton(one.curl, "the curl command")), make("pre", { class: "lines", tabindex: "0", "aria-label": "curl" }, shown(one.curl))) : null);

  const sample = (one, data, index) => {
    const isBad = data.status !== "passed";
    const before = index === 0 ? one.before : null;
    const parts = [
      make("div", { class: "sides" }, text("expected", one.row.expected, "expected"), text("reply", data.reply, "reply"),
        text("scored part of the reply", data.scored), before && before.reply != null ? text(`reply in the baseline (${before.status})`, before.reply, "before") : null),
      before?.diff ? make("div", {}, make("h3", {}, "Reply, baseline to now"), lines(before.diff, "difference from the baseline")) : null,
      data.checks.length ? make("h3", {}, "Checks") : null, ...data.checks.map(score),
      make("h3", {}, "Calls"), ...data.calls.map((each) => call(each, each.tested && isBad)),
      data.calls.length ? null : make("p", { class: "quiet" }, "No model was asked."),
      ...Object.entries(data.attachments).map(([name, content]) => text(name, content)),
    ];
    if (one.samples.length === 1) return make("div", {}, ...parts);
    const firstBad = one.samples.find((each) => each.status !== "passed") ?? one.samples[0];
    return make("details", { open: data === firstBad }, make("summary", {}, `Sample ${index + 1} of ${one.samples.length} `, badge(data.status, "b"), " ", shown(data.reason)), ...parts);
  };

  const fact = (name, ...content) => content[0] ? [make("dt", {}, name), make("dd", {}, ...content)] : [];

  let back = null;
  const step = (one, by) => state.found[state.found.indexOf(one) + by];

  const open = (one) => {
    const dialog = $("case");
    const nav = (label, key, other) => make("button", { type: "button", class: "plain", disabled: !other, "aria-keyshortcuts": key, on: { click: () => open(other) } }, label);
    const at = state.found.includes(one);
    dialog.replaceChildren(
      make("div", { class: "bar-top" }, badge(one.status, "b"), one.change && one.change !== one.status ? badge(one.change, "c") : null,
        make("h2", { id: "case-title", dir: "auto", tabindex: "-1" }, shown(`${one.test}[${one.case}]`)),
        nav("Previous", "p", at && step(one, -1)), nav("Next", "n", at && step(one, 1)),
        make("button", { type: "button", class: "plain", on: { click: () => dialog.close() } }, "Close")),
      make("div", { class: "inside" },
        one.reason ? make("p", { class: "verdict", dir: "auto" }, shown(one.reason)) : null,
        make("dl", { class: "facts" },
          ...fact("row", one.source && shown(one.source)),
          ...fact("run again", one.rerun && make("code", { class: "command" }, shown(one.rerun)), one.rerun && copyButton(one.rerun, "the command")),
          ...fact("change", one.why && shown(`${one.change}: ${one.why}`)),
          ...fact("cause", one.cause), ...fact("tags", one.tags.length ? shown(one.tags.join(", ")) : null),
          ...Object.entries(one.params).flatMap(([name, value]) => fact(name, shown(value))),
          ...fact("time", seconds(one.seconds))),
        one.row.input != null ? make("details", {}, make("summary", {}, "Row: input and context"), text("input", one.row.input), text("context", one.row.context)) : null,
        ...one.samples.map((data, index) => sample(one, data, index))));
    dialog.current = one;
    if (!dialog.open) {
      back = document.activeElement;
      dialog.showModal();
    }
    document.body.classList.add("reading");
    dialog.scrollTop = 0;
    $("case-title").focus();
    history.replaceState(null, "", `#${encodeURIComponent(one.nodeid)}`);
  };

  // --- cases by variant --------------------------------------------------------------

  const matrix = () => {
    const names = new Set();
    const rows = new Map();
    for (const one of cases) {
      const name = Object.entries(one.params).map(([key, value]) => key === "generator" || key === "prompt" ? value : `${key}=${value}`).join(", ");
      names.add(name);
      const key = JSON.stringify([one.test, one.case]);
      if (!rows.has(key)) rows.set(key, new Map());
      rows.get(key).set(name, one);
    }
    const shared = [...rows.values()].filter((found) => found.size > 1);
    if (shared.length === 0) return;
    const columns = [...names].filter((name) => shared.some((found) => found.has(name)));
    let count = PAGE;
    const drawMatrix = () => {
      const isDifferent = (found) => new Set([...found.values()].map((one) => one.status)).size > 1;
      const chosen = $("different").checked ? shared.filter(isDifferent) : shared;
      $("matrix-table").replaceChildren(
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "case"), ...columns.map((name) => make("th", { scope: "col", dir: "auto" }, shown(name || "–"))))),
        make("tbody", {}, ...chosen.slice(0, count).map((found) => {
          const first = found.values().next().value;
          return make("tr", {}, make("th", { scope: "row", dir: "auto" }, shown(`${first.test}[${first.case}]`)), ...columns.map((name) => {
            const one = found.get(name);
            return make("td", {}, one ? make("button", { type: "button", class: "link", "aria-label": `${one.status}: ${one.case}, ${name}`, on: { click: () => open(one) } }, badge(one.status, "b"), one.value == null ? "" : ` ${number(one.value)}`) : "");
          }));
        }), chosen.length ? null : make("tr", {}, make("td", { colspan: columns.length + 1 }, "All variants came to the same."))));
      $("matrix-more").hidden = chosen.length <= count;
    };
    $("different").addEventListener("change", () => { count = PAGE; drawMatrix(); });
    $("matrix-more").addEventListener("click", () => { count += PAGE; drawMatrix(); });
    $("matrix").hidden = false;
    drawMatrix();
  };

  // --- keys, theme, print ------------------------------------------------------------

  let waiting = 0;
  // What was typed last is searched for with the next frame, or before a key moves into
  // the table: drawn anew after that, the table would lose the focus.
  const settle = () => { if (waiting) { cancelAnimationFrame(waiting); waiting = 0; search(); } };

  const move = (by) => {
    const buttons = [...$("table").querySelectorAll("button.link")];
    const at = buttons.indexOf(document.activeElement);
    const next = buttons[at < 0 ? (by > 0 ? 0 : buttons.length - 1) : Math.max(0, Math.min(buttons.length - 1, at + by))];
    next?.focus();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches?.("input, select, textarea");
    const dialog = $("case");
    if (dialog.open) {
      const other = { n: 1, p: -1 }[event.key];
      const found = other && state.found.includes(dialog.current) && step(dialog.current, other);
      if (found) { event.preventDefault(); open(found); }
      return;
    }
    const isInTable = $("table").contains(event.target) || event.target === document.body;
    const by = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "/" && !isTyping) { event.preventDefault(); $("search").focus(); }
    else if (event.target.id === "search" && event.key === "ArrowDown") { event.preventDefault(); settle(); move(1); }
    else if (event.target.id === "search" && event.key === "Escape") { event.target.value = ""; search(); }
    else if (by && !isTyping && isInTable && (event.key.length === 1 || event.target !== document.body)) { event.preventDefault(); move(by); }
  });

  $("case").addEventListener("close", () => {
    document.body.classList.remove("reading");
    history.replaceState(null, "", location.pathname + location.search);
    const button = [...$("table").querySelectorAll("button.link")].find((one) => one.dataset.case === $("case").current?.nodeid);
    (button ?? back)?.focus();
  });
  $("case").addEventListener("click", (event) => { if (event.target === $("case")) $("case").close(); });

  const root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const named = () => { $("theme").textContent = isDark() ? "Light theme" : "Dark theme"; };
  $("theme").addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; named(); });

  for (const cell of document.querySelectorAll("[data-open]")) {
    const one = byId.get(cell.dataset.open);
    if (one) cell.replaceChildren(make("button", { type: "button", class: "link", on: { click: () => open(one) } }, ...cell.childNodes));
  }

  addEventListener("beforeprint", () => { if (!$("case").open) { state.count = cases.length; draw(); } });
  $("search").addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(settle); });
  for (const name of filters) $(`f-${name}`).addEventListener("change", search);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(search));
  $("more").addEventListener("click", () => { state.count += PAGE; draw(); });

  fill();
  named();
  for (const id of ["filters", "table", "keys", "theme"]) $(id).hidden = false;
  if (cases.some((one) => BAD.includes(one.status))) $("f-status").value = "*";
  search();
  matrix();
  const linked = byId.get(decodeURIComponent(location.hash.slice(1)));
  if (linked) open(linked);
})();
