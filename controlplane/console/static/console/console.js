// Adds a copy button to each code block, and closes menus on Escape or a click elsewhere.
// Every page works without it.
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

  if (navigator.clipboard) { document.querySelectorAll(".code").forEach(addCopyButton); }
  document.addEventListener("click", closeMenus);
  document.addEventListener("keydown", closeMenus);
})();
