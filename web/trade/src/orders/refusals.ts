/** The refusals that orders alone meet, in words. Loaded late: a first page needs none. */
import type { Problem } from "#lib/components/states.tsx";
import { texts } from "#lib/language.ts";
import { explain, type OwnWords } from "../api/messages.ts";

const WORDS: OwnWords = texts({
  codes: {
    POST_ONLY_WOULD_CROSS: [
      "The order would have traded at once",
      "It is post-only, so it was not placed. Choose a price that meets no order of the other side.",
    ],
    IDEMPOTENCY_KEY_IN_USE: [
      "The exchange still works on the order",
      "Wait a moment. Sending this form again unchanged never places a second one.",
    ],
    DUPLICATE_CLIENT_ORDER_ID: [
      "An open order has this reference",
      "Choose another reference, or cancel the order that has it.",
    ],
    AMENDMENT_REJECTED: [
      "The order was not changed",
      "It stands as before. Change what the reason names, and send it again.",
    ],
    QUANTITY_BELOW_FILLED: [
      "More than that is filled already",
      "The order stands as before. Choose a larger quantity, or cancel the rest.",
    ],
    DUPLICATE_CLIENT_LIST_ID: [
      "This list id is used already",
      "Give each list an id of its own. Nothing was placed.",
    ],
    ORDER_LIST_REJECTED: [
      "None of the orders was placed",
      "All are placed or none. Change what the reason names, and send them again.",
    ],
    ORDER_LIST_NOT_OPEN: [
      "The orders have ended already",
      "Nothing of the list is open. The history shows how each one ended.",
    ],
    ORDER_LIST_NOT_FOUND: [
      "There is no such list of orders",
      "It may have ended. Look at the order history.",
    ],
    ORDER_IN_LIST: [
      "All orders of a list have one amount",
      "It cannot be changed. Cancel the list, and place another with the amount that you want.",
    ],
    LIST_EXIT_WOULD_FILL: [
      "An exit would trade at once",
      "Nothing has changed. Move the take profit farther from the market and from the price of the entry.",
    ],
    INVALID_DISPLAY_QUANTITY: [
      "The order cannot show so much or so little",
      "Show less than the whole amount, and at least a hundredth of it, in steps of the market.",
    ],
    REPLACEMENT_NOT_ATTEMPTED: [
      "The order was not replaced",
      "The first order could not be cancelled, so no other was placed. Look at your open orders.",
    ],
    REPLACEMENT_REJECTED: [
      "The order is cancelled, and the new one was refused",
      "Nothing stands in its place. Change what the reason names, and place the new order.",
    ],
    NO_TRIGGER_TO_AMEND: [
      "The order waits for no price of yours",
      "It has fired, follows the price by itself, or has no trigger. It stands as before.",
    ],
    TRIGGER_WOULD_FIRE: [
      "The price would fire it at once",
      "Choose a price that the market has not reached yet.",
    ],
    REFERENCE_PRICE_UNKNOWN: [
      "There is no price to follow yet",
      "Nobody has traded here lately. Place a limit order instead.",
    ],
  },
  reasons: [],
});

/** Explains a refusal of an order of any kind to its user. */
export const explainOrder = (error: unknown): Problem => explain(error, WORDS);
