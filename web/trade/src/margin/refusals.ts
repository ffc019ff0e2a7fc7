/** The refusals of margin requests in words. They are loaded with the page: the login needs none of them. */
import type { Problem } from "#lib/components/states.tsx";
import { texts } from "#lib/language.ts";
import { explain, type OwnWords } from "../api/messages.ts";

const WORDS: OwnWords = texts({
  codes: {
    POOL_EMPTY: [
      "The lending pool is empty",
      "Nothing was borrowed. Borrow less, trade with your own funds alone, or come back when others have repaid.",
    ],
    NO_MARK_PRICE: [
      "An asset has no price now",
      "Accounts are valued at fair prices, so nothing was done. Try again when that asset has traded between several people.",
    ],
    PRICE_NOT_SURE: [
      "A price is not sure now",
      "The reason names the price and what is waited for. Nothing was done. You can still repay, move collateral in and close positions.",
    ],
    MARGIN_STATUS_UNKNOWN: [
      "Nobody knows yet what became of it",
      "Press the button again: it asks for the same request and never does it twice. Your account shows it too.",
    ],
    MARGIN_REFUSED: [
      "Your margin account does not allow that",
      "The reason says what stands in the way. Nothing was done.",
    ],
    NOT_FOUND: [
      "There is no such account, position or loan",
      "It may have ended or been closed in another window. Reload the page.",
    ],
  },
  reasons: [
    [
      /margin service does not respond/,
      [
        "Margin trading does not respond now",
        "Nothing was done, and what is in your account stays there. Try again in a few seconds.",
      ],
    ],
    [
      /is not offered on margin/,
      [
        "That is not offered on margin",
        "Coins and markets that were listed later are traded with your own funds. What is in your account can be moved out.",
      ],
    ],
    [
      /is not traded now/,
      [
        "This market takes no orders now",
        "Positions stay as they are, and their loans run. You can repay a loan with what you move in.",
      ],
    ],
    [
      /insufficient_margin/,
      ["Not enough margin", "Lower the quantity, close another position, or move collateral in."],
    ],
    [
      /would_be_liquidated/,
      ["The account would be liquidated at once", "Lower the quantity, or move collateral in."],
    ],
    [
      /too thin|too_little_liquidity/,
      [
        "The market is too thin for that",
        "More could not be bought back near the fair price. Choose a smaller amount.",
      ],
    ],
    [
      /account_not_active|margin account is liquidating/,
      [
        "Your account is being liquidated",
        "Wait until that has ended; the page shows it. Collateral can be moved in meanwhile.",
      ],
    ],
    [
      /would fall to the warning level/,
      [
        "The level would fall too far",
        "Move out less, or repay a loan first: with a debt the level has to stay above 150 %.",
      ],
    ],
    [
      /more than \d+ times the equity/,
      ["That is more debt than your account may have", "Borrow less, or move collateral in."],
    ],
    [
      /would not cover the margin of the open positions/,
      ["The open positions need that margin", "Choose a smaller amount, or close a position first."],
    ],
    [
      /margin account (does not cover|has less free)/,
      ["Your margin account does not have that much free", "Lower the amount, or move collateral in first."],
    ],
    [
      /spot account does not cover/,
      [
        "Your spot account does not have that much free",
        "Lower the amount, cancel an open order that holds funds, or deposit more.",
      ],
    ],
    [
      /nothing was traded/,
      [
        "Nothing was traded",
        "There is too little to trade with near the last price. What was borrowed is repaid. Try a smaller quantity, or later.",
      ],
    ],
    [
      /smallest order of the market/,
      [
        "No order is that small",
        "Choose a larger part that leaves enough for another order, or close it all.",
      ],
    ],
    [
      /account still holds|open loans|open positions/,
      ["The account is not empty", "Close the positions, repay the loans and move everything out first."],
    ],
    [
      /the (position|loan) is \w+$/,
      ["It has changed meanwhile", "Its state stands in the list, which is up to date now."],
    ],
  ],
});

/** Explains a failed margin request. */
export function explainMargin(error: unknown): Problem {
  return explain(error, WORDS);
}
