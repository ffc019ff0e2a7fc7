/** What an operator is told when something fails: what happened, the error itself, and what to do next. */
import type { Problem } from "#lib/components/states.tsx";
import { isOffline } from "#lib/network.ts";
import {
  EdgeError,
  EngineError,
  RefusedError,
  RestError,
  UnreachableError,
  unwrapped,
  WebServerError,
} from "./errors.ts";

type Words = Pick<Problem, "title" | "advice">;

const STATUSES: Record<string, Words> = {
  UNAUTHENTICATED: {
    title: "Your session has ended",
    advice: "Log in again. What you were looking at opens again afterwards.",
  },
  PERMISSION_DENIED: {
    title: "This session may not do that",
    advice: "Log in as a participant of type SUPER_ADMIN or SYSTEM.",
  },
  INVALID_ARGUMENT: {
    title: "The engine does not take this request",
    advice: "Correct the field that the message names, in the filters or in the form, and try again.",
  },
  RESOURCE_EXHAUSTED: {
    title: "The engine takes no more of this now",
    advice:
      "Wait a few seconds and try again. If it happens often, look at the queue depth on the dashboard.",
  },
  UNAVAILABLE: {
    title: "The engine cannot do this now",
    advice: "It may be stopping or starting. See `openspot status` and the engine's log, then try again.",
  },
  DEADLINE_EXCEEDED: {
    title: "The engine took too long",
    advice: "If this was a change, it may have been made all the same: look before you repeat it.",
  },
  CANCELED: {
    title: "The request was broken off",
    advice: "If this was a change, it may have been made all the same: look before you repeat it.",
  },
  UNIMPLEMENTED: {
    title: "The engine does not know this method",
    advice: "The console is newer than the engine. Restart the platform so that both are of one version.",
  },
  INTERNAL: {
    title: "The engine failed at this request",
    advice: "Its log has the fault, at this time. Send that line with a report; repeating will not help.",
  },
  "404": {
    title: "There is no engine at this address",
    advice: "Something else listens there. Check the engine's address in the web server's settings.",
  },
  "415": {
    title: "The engine's address takes no JSON",
    advice:
      "A gateway in front of the engine speaks binary gRPC-Web only. Point the console at the engine itself (port 8090) or at a gateway that passes application/json.",
  },
  "502": {
    title: "A gateway could not reach the engine",
    advice: "See that the engine runs (`openspot status`) and that the gateway knows its address.",
  },
  "503": {
    title: "The engine is not ready",
    advice: "It may be starting. The console tries again by itself.",
  },
};

const REFUSALS: Record<string, string> = {
  WRONG_TYPE: "Log in as a participant of type SUPER_ADMIN or SYSTEM. Others trade through the REST edge.",
  RISK_NSF: "Take at most what is available: cancel open orders first if more has to come out.",
  INVALID_AMOUNT: "Enter a positive decimal with at most 18 digits after the point.",
  INVALID_CURRENCY: "Create the currency first, or choose one of the list.",
  MATCHING_UNKNOWN_ORDER_ID:
    "The order was filled or cancelled meanwhile. Refresh the list to see how it ended.",
  AUTH_INVALID_USER: "Check the participant's id: the order may be another participant's.",
  SYMBOL_HAS_OPEN_ORDERS:
    "Cancel the symbol's open orders first. Deactivate the symbol before, so that no new ones arrive.",
  SYMBOL_ALREADY_EXISTS: "Choose another pair or number.",
  CURRENCY_ALREADY_EXISTS: "Choose another name or number.",
  CURRENCY_IN_USE:
    "A symbol or a balance uses the currency. Delete its symbols and take its balances out first.",
  INVALID_SYMBOL: "The symbol was deleted meanwhile. Refresh the list.",
  INVALID_SYMBOL_SPECIFICATION: "Correct the field that the message names.",
  ENGINE_BUSY: "Too many commands are waiting. Wait a few seconds and try again.",
  PERMISSION_DENIED: "Log in as a participant of type SUPER_ADMIN or SYSTEM.",
  UNAUTHENTICATED: "Log in again.",
};

/** Where the reason itself tells what to do, more exactly than the status. */
const REASONS: readonly (readonly [RegExp, Words])[] = [
  [
    /too many logins, try again in \d+ s/,
    { title: "Too many logins", advice: "Wait as long as the message says. Each further try counts too." },
  ],
  [
    /too many logins at a time/,
    { title: "Too many logins at a time", advice: "Others are logging in. Try again in a few seconds." },
  ],
  [
    /more than \d+ rows, name a participant/,
    { title: "There are too many rows", advice: "Enter a participant in the filter to see its rows." },
  ],
  [
    /ENGINE_BUSY/,
    {
      title: "The engine is busy",
      advice: "Too many commands are waiting. Wait a few seconds and try again.",
    },
  ],
  [
    /participantId or password is wrong/,
    {
      title: "Not logged in",
      advice: "Check both. The first password is printed when the platform starts for the first time.",
    },
  ],
  [
    /is not active/,
    {
      title: "This participant is not active",
      advice: "Another administrator can activate it under Participants.",
    },
  ],
  [
    /already exists/,
    { title: "The name is taken", advice: "Choose another one, or open the one that there is." },
  ],
  [
    /cannot deactivate its own participant/,
    { title: "You cannot deactivate yourself", advice: "Log in as another administrator to do that." },
  ],
  [
    /is the fee account/,
    { title: "The fee account stays as it is", advice: "It collects the fees and never trades or logs in." },
  ],
  [
    /there is no .*/,
    { title: "There is none of that name", advice: "Check the spelling: upper and lower case differ." },
  ],
];

/** Failures of what the web server itself serves: health, the comparison, and withdrawals. */
const WEB_SERVER: Record<number, Words> = {
  0: {
    title: "The web server does not respond",
    advice: "See that it runs (`openspot status`). The console tries again by itself.",
  },
  400: {
    title: "Custody refused the decision",
    advice: "The list shows how the withdrawal stands now. Decide again if it is still open.",
  },
  401: {
    title: "The web server refused the request",
    advice:
      "Log in again. While the engine is silent, only sessions that it knew a few minutes ago may look.",
  },
  404: {
    title: "There is no such withdrawal",
    advice: "It was settled meanwhile. Close this and look at the list.",
  },
  409: { title: "A comparison runs already", advice: "Wait for its outcome." },
  502: {
    title: "Custody does not respond",
    advice: "See that it runs (`openspot status`). Nothing was decided; the console tries again by itself.",
  },
  503: {
    title: "The engine does not respond",
    advice: "Custody cannot check your session without it. Nothing was decided; try again in a few seconds.",
  },
  504: {
    title: "Custody took too long",
    advice: "A decision may have been made all the same: look at the list before you repeat it.",
  },
};

const WEB_SERVER_OTHER: Words = {
  title: "The web server refused the request",
  advice: "Try again. If it stays, look at the log of the web server and of custody.",
};

/** What the REST edge refuses, by its code. */
const EDGE: Record<string, Words> = {
  PERMISSION_MISSING: {
    title: "Your roles do not allow this",
    advice: "An administrator can give you a role that has the permission.",
  },
  FORBIDDEN: {
    title: "This user is no operator",
    advice:
      "An administrator makes users operators, on the page of operators or with `openspot operators add`.",
  },
  OPERATOR_MFA_REQUIRED: {
    title: "Operators need a second factor",
    advice:
      "Log in to the trading screen with this address, turn two-factor authentication on in the account's settings, then log in here again.",
  },
  OPERATOR_ADDRESS_REFUSED: {
    title: "Operators may not call from this address",
    advice: "Call from one of the addresses that OPENSPOT_OPERATOR_NETWORKS lists.",
  },
  ORDER_COUNT_CHANGED: {
    title: "Many more orders are open by now",
    advice:
      "Nothing was cancelled. Look at the new count, and confirm it; or stop new orders by the market's phase.",
  },
  MARKET_NEEDED_ON_MARGIN: {
    title: "Margin accounts still need this market",
    advice:
      "Nothing was changed, and margin takes nothing new that needs it. Wait until they have closed, repaid or moved it out by the time that you announced, then delist it.",
  },
  DELISTING_NOT_SCHEDULED: {
    title: "Its delisting has to be scheduled first",
    advice:
      "Give a time. From then on margin takes nothing new that needs the market. Delist it at that time, or as soon as no account needs it.",
  },
  MARKET_CHANGED: {
    title: "Somebody has changed the market meanwhile",
    advice:
      "Nothing was changed. What you typed stands beside the market as it is now: look at both, and decide again.",
  },
  PARTICIPANT_NOT_FREEZABLE: {
    title: "This participant is not frozen from here",
    advice: "Accounts of the house, of margin, and administrators of the engine stay as they are.",
  },
  PARTICIPANT_INACTIVE: {
    title: "This participant is inactive already",
    advice:
      "An administrator of the engine has deactivated it, and only an administrator activates it again.",
  },
  PARTICIPANT_NOT_FROZEN: {
    title: "This participant is not frozen",
    advice: "Somebody has ended the freeze meanwhile, or an administrator of the engine has deactivated it.",
  },
  PHASE_CHANGED: {
    title: "The market has entered another phase meanwhile",
    advice:
      "Nothing was changed. The phase of now stands beside the one that you chose: look, and decide again.",
  },
  PHASE_UNCROSSING: {
    title: "An auction of the market is being traded",
    advice: "Nothing was changed. Try again in a few seconds, when its trades are made.",
  },
  ROLES_CHANGED: {
    title: "The roles have changed meanwhile",
    advice: "Close this, look at the roles as they are now, and decide again.",
  },
  OWN_ROLES: { title: "Nobody changes their own roles", advice: "Ask another administrator." },
  USER_IS_OPERATOR: {
    title: "This user is an operator",
    advice:
      "Nothing was changed. Only administrators lock or unlock operators, end their sessions, or reset their second factor: two of them ask for that and approve it.",
  },
  EMAIL_NOT_VERIFIED: {
    title: "The user's e-mail address is not verified",
    advice:
      "Nothing was changed. Anybody can register an address: its owner opens the link of the mail first. The page of the user sends it again.",
  },
  LAST_ADMINISTRATOR: {
    title: "The last administrator keeps the role",
    advice: "Make another user an administrator first.",
  },
  USER_NOT_FOUND: {
    title: "Nobody is registered so",
    advice: "The user registers on the trading screen first. Check the spelling of the address.",
  },
  SESSION_NOT_FOUND: {
    title: "The session is over",
    advice: "It has ended meanwhile; the list shows the others.",
  },
};
const EDGE_STATUSES: Record<number, Words> = {
  0: {
    title: "The REST edge does not respond",
    advice:
      "See that the platform runs (`openspot status`) and that OPENSPOT_CORS_ORIGINS names this page's address.",
  },
  400: {
    title: "The REST edge does not take this",
    advice: "Correct what the message names, and try again.",
  },
  401: { title: "That is not right", advice: "Check the address, the password or the code, and try again." },
  429: {
    title: "Too many requests",
    advice: "Wait until the time that the message names is over, then try again.",
  },
  503: {
    title: "Something behind the REST edge does not respond",
    advice: "Look at the page Health. Nothing was done; try again when all services are ready.",
  },
};
const EDGE_OTHER: Words = {
  title: "The REST edge refused the request",
  advice: "Try again. If it stays, look at the REST edge's log.",
};

function wordsOf(text: string): Words | undefined {
  return REASONS.find(([pattern]) => pattern.test(text))?.[1];
}

/** What to tell about an error, whatever it is. */
export function explain(thrown: unknown): Problem {
  const error = unwrapped(thrown);
  if (error instanceof WebServerError) {
    return { ...(WEB_SERVER[error.status] ?? WEB_SERVER_OTHER), detail: error.message };
  }
  if (error instanceof EdgeError) {
    return { ...(EDGE[error.code] ?? EDGE_STATUSES[error.status] ?? EDGE_OTHER), detail: error.message };
  }
  if (error instanceof UnreachableError) {
    return isOffline(error.address)
      ? {
          title: "This computer is offline",
          detail: error.message,
          advice: "Check its network. The console goes on by itself as soon as the engine responds.",
        }
      : {
          title: "The engine does not respond",
          detail: error.message,
          advice:
            "See that the platform runs (`openspot status`) and that OPENSPOT_CONSOLE_ORIGINS names this page's address. The console tries again by itself.",
        };
  }
  if (error instanceof EngineError) {
    const words = wordsOf(error.text) ??
      STATUSES[error.status] ?? {
        title: "The engine refused the request",
        advice: "Try again. If it stays, look at the engine's log.",
      };
    return { ...words, detail: error.message };
  }
  if (error instanceof RefusedError || error instanceof RestError) {
    const words = wordsOf(error.message);
    return {
      title: words?.title ?? "The engine refused the change",
      detail: error.message,
      advice:
        REFUSALS[error.code] ?? words?.advice ?? "Correct the field that the message names, and try again.",
    };
  }
  return {
    title: "The console failed",
    detail: error instanceof Error ? error.message : String(error),
    advice: "Reload the page. If it happens again, report it with this message.",
  };
}

/** `explain`, or null where there is no error. */
export function explainIfAny(error: unknown): Problem | null {
  return error === null || error === undefined ? null : explain(error);
}

/** Seconds that a refused login asks to wait, or 0. */
export function secondsToWait(thrown: unknown): number {
  const error = unwrapped(thrown);
  const text = error instanceof EngineError ? error.text : error instanceof EdgeError ? error.message : "";
  const found = /try again in (\d{1,5}) s/.exec(text)?.[1];
  // eslint-disable-next-line openspot/decimal-text -- seconds
  return found === undefined ? 0 : Number.parseInt(found, 10);
}
