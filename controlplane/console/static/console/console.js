// Adds a copy button to each code block, closes menus on Escape or a click elsewhere, and refreshes
// the state of a space at each of its changes.
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
    var timer = setInterval(function () {
      if (!source || source.readyState !== EventSource.OPEN) { refresh(); }
    }, 2000);

    function stop() {
      clearInterval(timer);
      if (source) { source.close(); }
    }
    function refresh() {
      var current = document.querySelector("[data-events]");
      if (current) { htmx.trigger(current, "changed"); } else { stop(); }
    }
    if (!source) { return; }
    ["open", "space", "addresses", "users", "operations", "missed"].forEach(function (kind) {
      source.addEventListener(kind, refresh);
    });
    source.addEventListener("end", function () { source.close(); });
  }

  followSpace();
  if (navigator.clipboard) { document.querySelectorAll(".code").forEach(addCopyButton); }
  document.addEventListener("click", closeMenus);
  document.addEventListener("keydown", closeMenus);
})();
