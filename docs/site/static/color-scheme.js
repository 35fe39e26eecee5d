// Applies the reader's choice of light or dark before the page is drawn.
document.body.dataset.theme = localStorage.getItem("theme") || "auto";
