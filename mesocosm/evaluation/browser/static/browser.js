"use strict";
// Links and forms need none of this. Keys: / searches, n and p (or j and k) go on and back, u goes up.
const go = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
const keys = { n: () => go("next"), j: () => go("next"), p: () => go("prev"), k: () => go("prev"), u: () => go("up") };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === "/") { event.preventDefault(); document.querySelector("input[type=search]")?.focus(); }
  else keys[event.key]?.();
});
const playing = "mesocosm-playing";
let waiting;
const play = () => {
  clearTimeout(waiting);
  const button = document.querySelector("[data-play]");
  if (!button) { sessionStorage.removeItem(playing); return; }
  const on = sessionStorage.getItem(playing) === "yes";
  button.hidden = false;
  button.textContent = on ? "Pause" : "Play";
  button.onclick = () => { sessionStorage.setItem(playing, on ? "no" : "yes"); play(); };
  if (on) waiting = setTimeout(() => go("next"), 1500);
};
play();
