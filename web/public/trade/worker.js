/**
 * The worker of the installed pages: it keeps one page, which says that there is no connection. Everything else, above
 * all prices and scripts, always comes from the exchange.
 */
const OFFLINE_PAGE = "/trade/offline.html";
/** A new name when the page changes: the old one is then deleted. */
const KEPT = "offline-2";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(KEPT)
      .then((kept) => kept.add(OFFLINE_PAGE))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name)))),
  );
});

self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(
    fetch(event.request).catch(() => caches.match(OFFLINE_PAGE).then((page) => page ?? Response.error())),
  );
});
