"use strict";
// The exported file: its pages lie in it as text, and links lead from one to the next.
const pages = JSON.parse(document.getElementById("pages").textContent);
const shell = document.getElementById("shell");
const escaped = (text) => Object.assign(document.createElement("p"), { textContent: text }).innerHTML;
const found = (sought) => {
  const words = sought.toLowerCase();
  // The contexts of the turns repeat what the other pages have.
  const turns = ([path]) => Number(path.includes("/turns/"));
  const hits = Object.entries(pages).sort((one, other) => turns(one) - turns(other)).flatMap(([path, html]) => {
    const text = new DOMParser().parseFromString(html, "text/html").getElementById("content")?.textContent ?? "";
    const at = text.toLowerCase().indexOf(words);
    return at < 0 ? [] : [`<li><a href="${escaped(path)}">${escaped(path)}</a><p class="snippet">${escaped(text.slice(Math.max(0, at - 80), at + 160))}</p></li>`];
  });
  return `<h1>${hits.length} pages have “${escaped(sought)}”</h1><ul class="results">${hits.slice(0, 200).join("")}</ul>`;
};
const show = () => {
  const [path, anchor] = decodeURIComponent(location.hash.slice(1) || first).split("#");
  const sought = /\/search\?q=(.*)$/.exec(path)?.[1];
  shell.innerHTML = pages[sought ? first : path] ?? "<main id=content><h1>This page is not part of the file</h1></main>";
  if (sought) shell.querySelector("main").innerHTML = found(decodeURIComponent(sought));
  document.title = shell.querySelector("h1")?.textContent ?? document.title;
  (anchor ? document.getElementById(anchor) : null)?.scrollIntoView() ?? scrollTo(0, 0);
  play();
};
const first = Object.keys(pages)[0];
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const href = link?.getAttribute("href");
  if (!href || /^(https?|data):/.test(href)) return;
  event.preventDefault();
  if (href.startsWith("#")) document.getElementById(href.slice(1))?.scrollIntoView();
  else location.hash = encodeURIComponent(href);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  const sought = new FormData(event.target).get("q");
  if (sought) shell.querySelector("main").innerHTML = found(String(sought));
});
addEventListener("hashchange", show);
show();
