/** What the form asks for, the facts that an order is judged by, and what the judgement says. */
import type { Schemas } from "../api/client.ts";
import {
  isConditional,
  type OrderType,
  type SelfTradePrevention,
  type TimeInForce,
  type TriggerSource,
} from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import type { Book } from "../stream/book.ts";
import type { PostOnlyMode } from "./postOnly.ts";

export type OrderBody = Schemas["OrderBody"];
export type ListBody = Schemas["OrderListBody"];

export interface Draft {
  side: "buy" | "sell";
  type: OrderType;
  price: string;
  amount: string;
  /** What the amount counts: the asset that is traded, or the one that is paid. */
  unit: "base" | "quote";
  /** How far a market order may go from the reference price, in percent. */
  slippage: string;
  timeInForce: TimeInForce;
  /** Until when a good-till-date order is good, in UTC; empty before it is chosen. */
  expiresAt: string;
  /** A limit order that never trades at once. */
  postOnly: boolean;
  /** What becomes of a post-only order that would: it is refused, or rests one tick behind. */
  postOnlyMode: PostOnlyMode;
  /** What a stop or a take profit waits for. */
  stopPrice: string;
  triggerBy: TriggerSource;
  /** How far a trailing stop follows the best price behind it. */
  trailing: string;
  /** What `trailing` counts: money, or percent of the best price. */
  trailingUnit: "quote" | "percent";
  /** What becomes of orders of one person that would trade with each other; empty: as the account says. */
  selfTradePrevention: SelfTradePrevention | "";
  /** How much of a limit order the book shows at a time; empty: all of it. */
  display: string;
  /** Whether a stop goes with the limit order, and what one fills the other loses. */
  isOco: boolean;
  /** Whether `takeProfit` and `stopLoss` follow a limit or market order once it fills. Either may be empty. */
  hasExits: boolean;
  takeProfit: string;
  stopLoss: string;
  /** The limit of the stop of a list once it fires; empty: it is a market order then. */
  stopLimit: string;
}

export const EMPTY_DRAFT: Draft = {
  side: "buy",
  type: "limit",
  price: "",
  amount: "",
  unit: "base",
  slippage: "1",
  timeInForce: "gtc",
  expiresAt: "",
  postOnly: false,
  postOnlyMode: "refuse",
  stopPrice: "",
  triggerBy: "last",
  trailing: "",
  trailingUnit: "percent",
  selfTradePrevention: "",
  display: "",
  isOco: false,
  hasExits: false,
  takeProfit: "",
  stopLoss: "",
  stopLimit: "",
};

/** Whether a draft is of several orders that depend on each other (orders/lists.ts). */
export const isList = ({ isOco, hasExits, type }: Draft) => isOco || (hasExits && !isConditional(type));

/** The fields of the form that can be wrong by themselves. */
export type FieldName =
  | "price"
  | "amount"
  | "slippage"
  | "stopPrice"
  | "stopLimit"
  | "trailing"
  | "display"
  | "takeProfit"
  | "stopLoss";

export interface Facts {
  /** With its reference price as of now. */
  market: Market;
  book: Book | null;
  lastPrice: string | null;
  /** Free funds, or null without a session or before they are known. */
  available: { base: string; quote: string } | null;
}

export interface Estimate {
  quantity: bigint;
  /** Of what would fill at once, else the limit price. */
  averagePrice: bigint;
  /** What would fill at once. */
  filledNow: bigint;
  subtotal: bigint;
  /** Negative for a rebate. */
  fee: bigint;
  /** What a buyer pays and a seller receives, if the book stays as it is. */
  total: bigint;
  /** What the exchange holds until the order has ended: a buyer's money with the highest fee, a seller's asset. */
  held: bigint;
  /** The part of a buyer's `held` that is for the fee. */
  heldFee: bigint;
  /** How much worse the average is than the best price, in hundredths of a percent. */
  slippageBps: bigint;
  /** Whether the book lacks some of a market order within its slippage. */
  isThin: boolean;
  /** Whether a sell for an amount of money takes all that is free, and still brings less. */
  isShort: boolean;
}

export interface Review {
  faults: Partial<Record<FieldName, string>>;
  /** Why the order cannot be sent, or null. */
  blocked: string | null;
  warnings: readonly string[];
  estimate: Estimate | null;
  /** Whether a word has to be typed first: the price is far from the market. */
  needsWord: boolean;
  body: OrderBody | null;
  /** In place of `body`, for several orders. */
  list?: ListBody;
}
