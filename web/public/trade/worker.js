/**
 * The worker of the installed pages: it keeps one page, which says that there is no connection, and shows notifications
 * while no page is open. Everything else, above all prices and scripts, always comes from the exchange.
 */
const OFFLINE_PAGE = "/trade/offline.html";
/** A new name when the page changes: the old one is then deleted. */
const KEPT = "offline-2";
/** Holds the subscription that the exchange knows: of one that has ended the browser may tell nothing. */
const DEVICE = "device";
const SUBSCRIPTION = "/trade/subscription.json";
/** The name of the exchange. The web server puts that of the operator's brand in its place. */
const BRAND = "OpenSpot";

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
      .then((names) =>
        Promise.all(
          names.filter((name) => name !== KEPT && name !== DEVICE).map((name) => caches.delete(name)),
        ),
      ),
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

/** The push service has ended a subscription: another one takes its place, without a page and without a click. */
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(renew(event));
});

async function renew({ oldSubscription, newSubscription }) {
  const device = await caches.open(DEVICE);
  const kept = await device.match(SUBSCRIPTION);
  const old = kept ? await kept.json() : oldSubscription && bodyOf(oldSubscription);
  // A browser that is not notified any more, or whose session has ended, has nothing to renew.
  if (!old) return;
  const renewed = newSubscription ?? (await subscribedAgain(oldSubscription, old));
  const { restUrl } = await (await fetch("/config.json")).json();
  const body = { old: { endpoint: old.endpoint, keys: old.keys }, renewed: bodyOf(renewed) };
  const response = await fetch(`${restUrl}/api/v1/push-subscriptions/renewal`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.ok)
    await device.put(SUBSCRIPTION, Response.json({ ...body.renewed, applicationKey: old.applicationKey }));
  else if (response.status === 404) {
    // The exchange notifies this browser no more, so it must not count itself as notified.
    await device.delete(SUBSCRIPTION);
    await renewed.unsubscribe();
  }
}

async function subscribedAgain(ended, { applicationKey }) {
  const applicationServerKey = ended?.options.applicationServerKey ?? Uint8Array.from(applicationKey ?? []);
  return self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

function bodyOf(subscription) {
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
}

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
    title: text("title", BRAND),
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
