/**
 * The worker of the installed pages: it keeps one page, which says that there is no connection, and shows notifications
 * while no page is open. Everything else, above all prices and scripts, always comes from the exchange.
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

/** Browsers ask that each message is shown, so one that cannot be read is shown without its text. */
self.addEventListener("push", (event) => {
  const { id, kind, title, text, createdAt } = readMessage(event.data);
  event.waitUntil(
    self.registration.showNotification(title, {
      body: text,
      // A message that comes twice takes its own place.
      tag: id,
      timestamp: createdAt,
      icon: "/trade/app-icon-192.png",
      data: kind,
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPageOf(String(event.notification.data)));
});

function readMessage(data) {
  let read;
  try {
    read = data.json();
  } catch {
    read = null;
  }
  const text = (name, otherwise) => (typeof read?.[name] === "string" ? read[name] : otherwise);
  return {
    id: text("id", "unread"),
    kind: text("kind", ""),
    title: text("title", "OpenSpot"),
    text: text("text", ""),
    createdAt: Number.isFinite(read?.createdAt) ? read.createdAt : Date.now(),
  };
}

/** The pages know where a kind of notification leads: one that is open is told, otherwise one is opened. */
async function openPageOf(kind) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const open = windows.find(({ url }) => new URL(url).pathname.startsWith("/trade/"));
  if (!open) return self.clients.openWindow(`/trade/?notice=${encodeURIComponent(kind)}`);
  // A browser may refuse it; the page is led on all the same.
  await open.focus().catch(() => undefined);
  open.postMessage(kind);
}
