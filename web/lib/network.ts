/** Whether a request failed because this computer has no network. */

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether an address is this computer's own, which it reaches without any network. */
export function isLoopback(address: string): boolean {
  return URL.canParse(address) && LOOPBACK.test(new URL(address).hostname);
}

/** Whether `address` is out of reach because the network is: never for this computer's own addresses. */
export function isOffline(address: string): boolean {
  return !navigator.onLine && !isLoopback(address);
}
