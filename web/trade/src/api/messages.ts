/** Every failure that a trader can meet: what happened, the exchange's own words, and what to do next. */
import type { Problem } from "#lib/components/states.tsx";
import { type Language, several, shownLanguage, SOURCE_LANGUAGE, t, texts } from "#lib/language.ts";
import { isOffline } from "#lib/network.ts";
import { RefusedError, UnreachableError } from "./errors.ts";
import type { Say } from "./reasons.ts";

/** In English: `explain` shows them in the language of the page. */
type Words = readonly [title: string, advice: string];

/** Explanations of one page, loaded with it. They come before the common ones below. */
export interface OwnWords {
  codes: Readonly<Record<string, Words>>;
  reasons: readonly (readonly [RegExp, Words])[];
}

/** By the code of the refusal. */
const CODES: Readonly<Record<string, Words>> = texts({
  INVALID_CREDENTIALS: [
    "Not logged in",
    "Check the email address and the password. After five wrong ones you have to wait.",
  ],
  LOGIN_LOCKED: [
    "Logins are locked",
    "Too many have failed. Choose a new password: “Forgot your password?” sends you a mail.",
  ],
  TOO_MANY_LOGINS: ["Too many logins", "Wait as long as the reason says. Each further try counts too."],
  TOO_MANY_PASSWORD_ATTEMPTS: ["Too many wrong passwords", "Wait as long as the reason says."],
  TOO_MANY_MFA_ATTEMPTS: ["Too many wrong codes", "Wait as long as the reason says."],
  PASSWORD_WRONG: ["The password is wrong", "Enter the password that you log in with."],
  INVALID_MAIL_TOKEN: ["The link does not work", "It works once and for a limited time. Ask for a new mail."],
  EMAIL_VERIFIED_ALREADY: ["Your address is confirmed already", "Nothing is left to do."],
  MFA_CODE_INVALID: [
    "The code is wrong",
    "Enter the newest code of your app. Each works once, so wait for the next one.",
  ],
  MFA_REQUIRED: ["A code is needed", "Enter the newest code of your authenticator app, or a recovery code."],
  OPEN_ORDERS_REMAIN: ["Orders are open", "Cancel them first: the list of open orders has “Cancel all”."],
  BALANCES_REMAIN: ["There are balances left", "Withdraw or convert them first, to the last digit."],
  MARGIN_ACCOUNT_REMAINS: ["There is a margin account", "Empty and close it first, on the page Margin."],
  OBLIGATIONS_REMAIN: ["Something is under way", "Wait until what the reason names is settled."],
  MFA_CHALLENGE_INVALID: [
    "The login took too long",
    "Go back to the password. There are five minutes for the code.",
  ],
  MFA_ALREADY_ENABLED: ["Two-factor authentication is on already", "Reload the page to see it."],
  UNAUTHENTICATED: ["Your session has ended", "Log in again. The page that you were on opens afterwards."],
  TOO_MANY_REQUESTS: ["Too many requests", "Wait a moment. Nothing was done."],
  PARTICIPANT_INACTIVE: [
    "Your account takes no new trades",
    "Open orders can still be cancelled and positions closed. Ask the operator what it is about.",
  ],
  RISK_NSF: ["Not enough funds", "Lower the amount: what an order may spend is held together with its fee."],
  INSUFFICIENT_BALANCE: [
    "Not enough funds",
    "Lower the amount, cancel an open order that holds funds, or deposit more.",
  ],
  PHASE_HALTED: [
    "The market is halted",
    "It takes no orders until the operator lets it go on. Yours can be cancelled.",
  ],
  PHASE_CANCEL_ONLY: [
    "The market takes no orders now",
    "Open orders can be cancelled and made smaller. Try again once it trades.",
  ],
  PHASE_POST_ONLY: [
    "The market takes only post-only orders now",
    "Switch post-only on, or try again once it trades.",
  ],
  PHASE_AUCTION: [
    "The market is in an auction",
    "It takes limit orders that stay. They trade at one price when it ends.",
  ],
  PHASE_UNCROSSING: ["An auction is being traded", "That takes a moment. Send the order again."],
  BUDGET_NOT_FILLABLE: [
    "Nothing could be traded for this amount",
    "The book has nothing within your slippage that it pays for. Raise the amount or place a limit order.",
  ],
  ORDER_REJECTED: ["The order was not placed", "Change what the reason names, and send it again."],
  ORDER_STATUS_UNKNOWN: [
    "Nobody knows yet whether the order was placed",
    "Sending this form again unchanged asks for the same order and never places a second one. Your open orders show it too.",
  ],
  ORDER_NOT_OPEN: [
    "The order has ended already",
    "It was filled or cancelled meanwhile. The history shows how.",
  ],
  ORDER_NOT_FOUND: ["There is no such order", "It may have ended. Look at the order history."],
  TOO_MANY_ALERTS: ["You have as many alerts as you may have", "Delete one that you do not need any more."],
  ALERTS_FULL: ["The exchange takes no more alerts", "Nothing was made. Try again later."],
  ALERT_NOT_FOUND: ["There is no such alert", "It may have been deleted. Reload the list."],
  TOO_MANY_DEVICES: [
    "You are notified on as many devices as you may have",
    "Remove one that you do not use any more.",
  ],
  SESSION_OVER: ["Your session has ended", "Log in again. The page that you were on opens afterwards."],
  PUSH_OFF: ["This exchange notifies no devices", "Mail and screen tell you the same."],
  PUSH_SUBSCRIPTION_NOT_FOUND: [
    "There is no such device",
    "It may have been removed, or its session has ended. Reload the list.",
  ],
  PUSH_QUEUE_FULL: [
    "Too many messages wait for this device",
    "Its push service takes none now. Try again later.",
  ],
  MARKET_NOT_FOUND: ["There is no such market", "Choose one of the list of markets."],
  WITHDRAWAL_STATUS_UNKNOWN: [
    "Nobody knows yet whether the withdrawal was taken",
    "Look at your withdrawals before you send it again.",
  ],
  WITHDRAWALS_DISABLED: ["Withdrawals are switched off", "The operator says when they come back."],
  ADDRESS_INVALID: ["The address is not valid", "Copy it once more from where you want to receive."],
  ADDRESS_EXISTS: ["The address is saved already", "Choose it from the list of addresses."],
  TOO_MANY_ADDRESSES: [
    "Too many addresses are saved",
    "Delete one that you do not need any more, or choose a plan with more.",
  ],
  USER_DAILY_LIMIT: [
    "That is more than your limit",
    "Withdraw less, wait until earlier withdrawals are 24 hours old, or verify yourself further.",
  ],
  WITHDRAWALS_PAUSED: ["These withdrawals are paused", "Nothing was taken. Come back later."],
  DEPOSITS_PAUSED: ["These deposits are paused", "An address is given after the pause."],
  WITHDRAWAL_TOO_LARGE: ["That is more than can be sent at once", "Split it into several withdrawals."],
  WALLET_DAILY_LIMIT: [
    "The exchange has sent as much as it may today",
    "Nothing was taken. Try a smaller amount, or come back tomorrow.",
  ],
  PRICE_UNKNOWN: [
    "Nobody knows the asset's price yet",
    "Limits are in US dollars, so a withdrawal needs a price. Come back after the first trade.",
  ],
  FEE_QUOTE_INVALID: ["The fee has changed", "Close this and review the withdrawal again."],
  NOT_CANCELLABLE: ["It cannot be cancelled any more", "It is approved already, or has ended."],
  ADDRESS_NOT_AVAILABLE: ["The address cannot be used yet", "The list of addresses shows from when on."],
  KYC_REQUIRED: [
    "Verification is needed",
    "Enter your details under Account, Verification. Limits rise with it.",
  ],
  KYC_REJECTED: [
    "Your verification was refused",
    "It cannot be repeated. Ask the operator if you think that this is wrong.",
  ],
  KYC_ALREADY_VERIFIED: ["You are verified already", "Reload the page to see your level."],
  KYC_PROVIDER_UNAVAILABLE: [
    "Documents cannot be checked now",
    "The operator has set up nobody who checks them. Your level stays as it is.",
  ],
  SUBSCRIPTION_ACTIVE: [
    "You have a plan already",
    "Reload the page: it shows your plan, which you can upgrade.",
  ],
  SUBSCRIPTION_STATE: [
    "Your plan cannot be changed now",
    "The reason says why. Reload the page to see where it stands.",
  ],
  INSUFFICIENT_FUNDS: [
    "Not enough funds",
    "Nothing was charged. Deposit or convert, or cancel an order that holds funds, and try again.",
  ],
  CHARGE_UNDER_WAY: [
    "A payment is under way",
    "Wait a moment and reload the page: it shows what came of it.",
  ],
  CHARGE_REFUSED: ["The payment was refused", "Nothing was charged. Ask the operator what the reason means."],
  PLAN_NOT_OFFERED: ["The plan is no longer offered", "Choose another one of the list."],
  TOO_MANY_API_KEYS: [
    "You have as many keys as you may have",
    "Revoke one that you no longer use, or choose a plan with more.",
  ],
  API_KEY_NOT_FOUND: ["There is no such key", "It may have been revoked elsewhere. Reload the list."],
  KYC_BASIC_INFO_REQUIRED: ["Your details are needed first", "Fill in name, date of birth and address."],
  QUOTE_EXPIRED: ["The quote has expired", "Prices move: ask for a new one and confirm it in time."],
  INVENTORY_INSUFFICIENT: [
    "That much cannot be converted now",
    "Try a smaller amount, or trade on the market.",
  ],
  INSUFFICIENT_LIQUIDITY: ["The market is too thin for this amount", "Try a smaller amount."],
  CAPACITY_EXCEEDED: ["The product is full", "Stake at most what remains, or choose another product."],
  STAKE_LOCKED: ["The stake is locked", "Its end stands in the list."],
  IDEMPOTENCY_KEY_IN_USE: [
    "The first attempt is still under way",
    "Wait a few seconds and look at the list before you try again.",
  ],
  POSITIONS_FOLLOW_FILLS: [
    "This position follows your trades",
    "Close it with an order on its market: it follows by itself.",
  ],
  POSITION_NOT_CLOSED: [
    "The position was not closed",
    "The reason says what it lacks. Reload the list and try again.",
  ],
  UNKNOWN_LAYOUT: [
    "The columns of the file are not known",
    "Export it again from Coinbase, Kraken or Bitstamp, or name the columns as the guide to positions does.",
  ],
  EMPTY_FILE: [
    "The file is empty",
    "Choose a file with a line of column names and at least one transaction.",
  ],
  TOO_MANY_IMPORTS: ["Other imports are under way", "Try again in a minute. Nothing of the file was taken."],
  BALANCES_UNKNOWN: ["Your balances are not known now", "Try again in a few seconds."],
  RESULTS_NOT_READY: ["The results are being computed", "Try again in a few seconds."],
  TRANSFER_ENDED: ["The transfer has ended already", "Its state stands in the list."],
  REFERENCE_IN_USE: [
    "The reference belongs to another transfer",
    "Choose another reference, or leave it empty.",
  ],
  OVERLOADED: ["The exchange is busy", "Nothing was done. Try again in a few seconds."],
  BUS_UNAVAILABLE: ["The exchange is not ready", "It may be restarting: try again in a few seconds."],
});

/** Explanations by the text of the reason, for codes with several reasons. */
const REASONS: OwnWords["reasons"] = texts([
  [
    /insufficient \S+ balance/,
    ["Not enough funds", "Lower the amount, cancel an open order that holds funds, or deposit more."],
  ],
  [
    /deviates from the last trade price/,
    [
      "The price is too far from the market",
      "Choose a price nearer to the last trade: it guards against slips of the finger.",
    ],
  ],
  [
    /no recent trade price/,
    ["A market order needs a recent price", "Nobody has traded here lately. Place a limit order instead."],
  ],
  [/below the minimum/, ["The order is too small", "Raise the amount to the minimum that the reason names."]],
  [/above the maximum/, ["The order is too large", "Split it into several orders."]],
  [/above the ceiling/, ["The slippage is too high", "Choose at most the limit that the reason names."]],
  [
    /wait|try again (in|after)/i,
    ["Please wait", "Wait as long as the reason says. Each further try may lengthen it."],
  ],
]);

const STATUSES: Readonly<Record<number, Words>> = texts({
  400: ["The exchange did not accept this", "Correct what the reason names, and try again."],
  401: ["You are not logged in", "Log in and try again."],
  403: ["That is not allowed", "Your account or key lacks the right for it."],
  404: ["There is none of that name", "It may have ended. Reload the list."],
  409: ["That is not possible now", "The reason says what stands in the way."],
  429: ["Too many requests", "Wait a moment. Nothing was done."],
  503: ["The exchange is not ready", "It may be starting: try again in a few seconds."],
  504: ["The outcome is not known", "Look at your orders and balances before you try again."],
});

const UNKNOWN: Words = texts([
  "The exchange failed",
  "Try again. If it stays, tell the operator the reason.",
]);

/** The words of other languages for reasons. Each comes with its catalogue. */
export const reasonsIn: Partial<Record<Language, Say>> = {};

/** The words of a reason or an error, with the language that they are in if it is not that of the page. */
export function sayReason(error: Error | string): Pick<Problem, "detail" | "language"> {
  const said = reasonsIn[shownLanguage()]?.(error) ?? null;
  return said === null
    ? { detail: typeof error === "string" ? error : error.message, language: SOURCE_LANGUAGE }
    : { detail: said };
}

/** Explains any error to the user. */
export function explain(error: unknown, own?: OwnWords): Problem {
  return {
    ...sayReason(error instanceof Error ? error : String(error)),
    ...wordsFor(error, own),
  };
}

function wordsFor(error: unknown, own?: OwnWords): Pick<Problem, "title" | "advice"> {
  if (error instanceof UnreachableError) {
    if (isOffline(error.address)) {
      const advice = error.isAskedAgain
        ? t("Check its network. The page goes on by itself; orders that rest in the book stay there.")
        : t("Check its network. The page does not send this again by itself.");
      return { title: t("This computer is offline"), advice };
    }
    const advice = error.isAskedAgain
      ? t("It may be restarting. The page tries again by itself; what you see may be old until then.")
      : t(
          "It may be restarting. The page does not send this again by itself: look whether it was done, and try again in a moment.",
        );
    return { title: t("The exchange does not respond"), advice };
  }
  if (error instanceof RefusedError) {
    const byReason = (reasons: OwnWords["reasons"] = []) =>
      reasons.find(([pattern]) => pattern.test(error.message))?.[1];
    const [title, advice] =
      byReason(own?.reasons) ??
      own?.codes[error.code] ??
      byReason(REASONS) ??
      CODES[error.code] ??
      STATUSES[error.status] ??
      UNKNOWN;
    const wait = error.retryAfter
      ? ` ${several(error.retryAfter, "It takes the next one in {count} second.", "It takes the next one in {count} seconds.")}`
      : "";
    return { title: t(title), advice: t(advice) + wait };
  }
  return {
    title: t("The page failed"),
    advice: t("Reload the page. If it happens again, report it with this message."),
  };
}

/** `explain`, or null where there is no error. */
export function explainIfAny(error: unknown): Problem | null {
  return error === null || error === undefined ? null : explain(error);
}
