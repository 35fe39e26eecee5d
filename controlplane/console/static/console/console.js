// Adds a copy button to each code block, closes menus on Escape or a click elsewhere, moves to the
// search field on Ctrl-K and through its results by arrow keys, and refreshes the state of a space at
// each of its changes.
// Every page works without this script.
(function () {
  "use strict";

  function addCopyButton(block) {
    var button = document.createElement("button");
    button.type = "button";
    button.className = "button small copy";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(block.querySelector("[data-copy]").textContent).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 2000);
      });
    });
    block.appendChild(button);
  }

  function closeMenus(event) {
    document.querySelectorAll("details.menu[open]").forEach(function (menu) {
      var left = event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target);
      if (left) { menu.open = false; }
    });
  }

  // An event stream says when to read the state again. While no stream is open, the state is read
  // every 2 s.
  function followSpace() {
    var card = document.querySelector("[data-events]");
    if (!card) { return; }
    var source = window.EventSource ? new EventSource(card.dataset.events) : null;
    var isStale = false;
    var hasEnded = false;
    var timer = setInterval(function () {
      if (!source || source.readyState !== EventSource.OPEN) { refresh(); }
    }, 2000);

    function stop() {
      clearInterval(timer);
      if (source) { source.close(); }
      // The list below shows what the change did; a choice in it is not lost.
      var list = document.querySelector("[data-after-changes]");
      if (list && !hasEnded && !list.querySelector(":checked")) { htmx.trigger(list, "ended"); }
      hasEnded = true;
    }
    function refresh() {
      var current = document.querySelector("[data-events]");
      if (!current) { stop(); return; }
      // The answer that is on its way may be older than this change.
      isStale = current.classList.contains("htmx-request");
      if (!isStale) { htmx.trigger(current, "changed"); }
    }
    document.body.addEventListener("htmx:afterSettle", function () {
      if (isStale || !(hasEnded || document.querySelector("[data-events]"))) { refresh(); }
    });
    if (!source) { return; }
    ["open", "space", "addresses", "users", "operations", "missed"].forEach(function (kind) {
      source.addEventListener(kind, refresh);
    });
    source.addEventListener("end", function () { source.close(); });
  }

  function goToSearch(event) {
    var field = document.getElementById("search");
    if (field && (event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      field.focus();
      field.select();
    }
  }

  // Arrow keys lead from the field through what was found while typing; Escape and a click
  // elsewhere close it.
  function useFound(event) {
    var sheet = document.getElementById("found");
    if (!sheet || !sheet.firstElementChild) { return; }
    var form = sheet.closest("form");
    if (event.type === "click" ? !form.contains(event.target) : event.key === "Escape") {
      sheet.replaceChildren();
      return;
    }
    var step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !form.contains(document.activeElement)) { return; }
    var stops = [document.getElementById("search")].concat(Array.from(sheet.querySelectorAll("a")));
    var next = stops[stops.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); }
  }

  followSpace();
  document.addEventListener("keydown", useFound);
  document.addEventListener("click", useFound);
  document.addEventListener("keydown", goToSearch);
  if (navigator.clipboard) { document.querySelectorAll(".code").forEach(addCopyButton); }
  document.addEventListener("click", closeMenus);
  document.addEventListener("keydown", closeMenus);
})();
