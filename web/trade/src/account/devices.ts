/** This browser as a device that shows notifications while no page is open (Web Push). */

import type { Schemas } from "../api/client.ts";

const WORKER = "/trade/worker.js";
/** Where the worker looks for the subscription that the exchange knows. */
const DEVICE = "device";
const SUBSCRIPTION = "/trade/subscription.json";

/** `denied`: the user, or whoever set the browser up, forbids notifications, and only its settings change that. */
export type Ability = "able" | "denied" | "unable" | "needs-install";

/** Whether this browser can show notifications of the exchange. */
export function deviceAbility(): Ability {
  const isAble = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  // Safari on phones has them for installed pages only.
  if (!isAble) return /iPhone|iPad/.test(navigator.userAgent) ? "needs-install" : "unable";
  return Notification.permission === "denied" ? "denied" : "able";
}

/** Ask for the permission. It must be called at once by a click: browsers refuse it otherwise. */
export async function permitNotifications(): Promise<boolean> {
  return (await Notification.requestPermission()) === "granted";
}

/** The subscription of this browser, null without one. */
export async function deviceSubscription(): Promise<PushSubscription | null> {
  if (!("serviceWorker" in navigator && "PushManager" in window)) return null;
  const registration = await navigator.serviceWorker.getRegistration(WORKER);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** Subscribe this browser with the exchange's key. A subscription with another key is ended: it gets nothing. */
export async function subscribeDevice(publicKey: string): Promise<PushSubscription> {
  await navigator.serviceWorker.register(WORKER);
  const { pushManager } = await navigator.serviceWorker.ready;
  const key = bytesOf(publicKey);
  const known = await pushManager.getSubscription();
  if (known && !isSame(known.options.applicationServerKey, key)) await known.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** Keep the subscription that the exchange now knows: the worker renews it by it when the push service ends it. */
export async function rememberDevice(
  body: Schemas["PushSubscriptionBody"],
  publicKey: string,
): Promise<void> {
  const kept = await caches.open(DEVICE);
  await kept.put(SUBSCRIPTION, Response.json({ ...body, applicationKey: [...bytesOf(publicKey)] }));
}

/** End the subscription of this browser, if there is one: what is still on its way is not shown any more. */
export async function forgetDevice(): Promise<void> {
  if ("caches" in window) await caches.delete(DEVICE);
  await (await deviceSubscription())?.unsubscribe();
}

/** The bytes of a text in base64url. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

function isSame(known: ArrayBuffer | null, key: Uint8Array): boolean {
  const bytes = new Uint8Array(known ?? new ArrayBuffer(0));
  return bytes.length === key.length && bytes.every((byte, place) => byte === key[place]);
}
