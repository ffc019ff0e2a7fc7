/**
 * One connection to the WebSocket edge for the whole page: it connects again by itself, subscribes again, speaks for
 * the user who is logged in, and says how fresh it is.
 */
import { createStore, type Store } from "#lib/store.ts";
import { createPace, type Pace } from "./pace.ts";

/**
 * - `connecting`: the first attempt runs.
 * - `live`: messages come, or the edge answers pings.
 * - `silent`: connected, but nothing has come for a while.
 * - `broken`: no connection; the next attempt follows.
 */
export type LinkState = "connecting" | "live" | "silent" | "broken";

export interface Link {
  state: LinkState;
  /** When the last message came, in milliseconds since 1970, or 0. */
  heardAt: number;
  /** How many connections have been made: it grows with each one. */
  epoch: number;
  /** The newest connection that speaks for a user, by its number: 0 before the first. */
  spokenEpoch: number;
}

export interface Push {
  channel: string;
  type: "snapshot" | "update";
  event?: string;
  seq: number;
  ts: number;
  data: unknown;
}

export interface Follower {
  onPush: (push: Push) => void;
  /** Called when the connection has ended: what was known may be old. */
  onBreak?: () => void;
}

export interface Stream {
  link: Store<Link>;
  /** When what followers keep goes to the page. */
  pace: Pace;
  /** Follow a channel until the returned function is called. Followers of one channel share its subscription. */
  follow: (channel: string, follower: Follower) => () => void;
  /** Subscribe again: the edge sends a fresh snapshot to everybody who follows the channel. */
  refresh: (channel: string) => void;
  /** Speak for another user, or for nobody. */
  identify: (token: string | null) => void;
  close: () => void;
}

interface Environment {
  url: string;
  /** The browser's WebSocket; tests give their own. */
  open?: (url: string) => WebSocket;
  now?: () => number;
  random?: () => number;
  /** The token of the connection was refused or has expired. */
  onTokenRefused?: () => void;
}

export const USER_CHANNELS: ReadonlySet<string> = new Set(["orders", "balances", "notifications"]);

const PING_MS = 5_000;
const SILENT_MS = 12_000;
const DEAD_MS = 25_000;
const CHECK_MS = 1_000;
const BACKOFF_FIRST_MS = 400;
const BACKOFF_LAST_MS = 15_000;
const TOKEN_EXPIRED = 4401;

/** How long to wait before attempt `failures`: a random part of a time that doubles. */
export function backoff(failures: number, random: number): number {
  const ceiling = Math.min(BACKOFF_LAST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(failures, 10));
  return ceiling * (0.5 + random / 2);
}

/** Connect, and stay connected until `close`. */
export function connectStream(environment: Environment): Stream {
  const { url, open = (address: string) => new WebSocket(address), now = Date.now } = environment;
  const { random = Math.random, onTokenRefused } = environment;
  const link = createStore<Link>({ state: "connecting", heardAt: 0, epoch: 0, spokenEpoch: 0 });
  const followers = new Map<string, Set<Follower>>();
  let socket: WebSocket | null = null;
  let token: string | null = null;
  let failures = 0;
  let pingedAt = 0;
  let isClosed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const send = (message: object) => {
    if (socket?.readyState === 1) socket.send(JSON.stringify(message));
  };
  const setState = (state: LinkState) => {
    if (link.get().state !== state) link.set({ ...link.get(), state });
  };

  function connect(): void {
    clearTimeout(retry);
    const current = open(url);
    const openedAt = now();
    socket = current;
    current.onopen = () => {
      if (socket !== current) return;
      failures = 0;
      pingedAt = now();
      link.set({ ...link.get(), state: "live", heardAt: now(), epoch: link.get().epoch + 1 });
      if (token !== null) send({ action: "authenticate", token });
      for (const channel of followers.keys()) subscribe(channel);
    };
    current.onmessage = (event: MessageEvent<unknown>) => {
      if (socket === current && typeof event.data === "string") receive(event.data);
    };
    current.onclose = (event: CloseEvent) => {
      if (socket !== current) return;
      socket = null;
      if (isClosed) return;
      setState("broken");
      for (const group of followers.values()) for (const { onBreak } of group) onBreak?.();
      if (event.code === TOKEN_EXPIRED) onTokenRefused?.();
      // A connection that the edge ends at once counts as a failure too.
      if (now() - openedAt < BACKOFF_LAST_MS) failures += 1;
      retry = setTimeout(connect, backoff(failures, random()));
    };
  }

  function receive(text: string): void {
    const heardAt = now();
    // Once a second is enough for people.
    if (link.get().state !== "live" || heardAt - link.get().heardAt >= CHECK_MS) {
      link.set({ ...link.get(), state: "live", heardAt });
    }
    const message = JSON.parse(text) as Partial<Omit<Push, "type">> & { type?: string; code?: string };
    if (message.channel !== undefined && message.data !== undefined) {
      for (const { onPush } of [...(followers.get(message.channel) ?? [])]) onPush(message as Push);
    } else if (message.type === "authenticated") {
      link.set({ ...link.get(), spokenEpoch: link.get().epoch });
    } else if (message.code === "INVALID_TOKEN") {
      onTokenRefused?.();
    }
  }

  const subscribe = (channel: string) => {
    if (!USER_CHANNELS.has(channel)) send({ action: "subscribe", channel });
  };

  const watch = setInterval(() => {
    if (socket?.readyState !== 1) return;
    const quiet = now() - link.get().heardAt;
    if (quiet >= DEAD_MS) {
      // The network may be gone without a word: do not wait for the browser to notice.
      const dead = socket;
      dead.close();
      dead.onclose?.(new CloseEvent("close", { code: 1006 }));
    } else if (quiet >= SILENT_MS) setState("silent");
    if (now() - pingedAt >= PING_MS) {
      pingedAt = now();
      send({ action: "ping" });
    }
  }, CHECK_MS);

  const onOnline = () => {
    if (socket === null && !isClosed) connect();
  };
  globalThis.addEventListener("online", onOnline);
  connect();

  return {
    link,
    pace: createPace(),
    follow(channel, follower) {
      const group = followers.get(channel);
      if (group) {
        group.add(follower);
        // The newcomer needs a snapshot too.
        subscribe(channel);
      } else {
        followers.set(channel, new Set([follower]));
        subscribe(channel);
      }
      return () => {
        const rest = followers.get(channel);
        rest?.delete(follower);
        if (rest?.size !== 0) return;
        followers.delete(channel);
        if (!USER_CHANNELS.has(channel)) send({ action: "unsubscribe", channel });
      };
    },
    refresh: subscribe,
    identify(next) {
      if (next === token) return;
      const isAnother = token !== null && (next === null || userOf(next) !== userOf(token));
      token = next;
      // A connection speaks for one user: another one needs a new connection.
      if (isAnother) socket?.close(1000);
      else if (next !== null) send({ action: "authenticate", token: next });
    },
    close() {
      isClosed = true;
      clearInterval(watch);
      clearTimeout(retry);
      globalThis.removeEventListener("online", onOnline);
      socket?.close(1000);
    },
  };
}

/** The user of an access token: its claims are the middle part, and are not trusted here. */
function userOf(token: string): string {
  try {
    const part = (token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
    const claims = JSON.parse(atob(part)) as { sub?: unknown };
    return typeof claims.sub === "string" ? claims.sub : token;
  } catch {
    return token;
  }
}
