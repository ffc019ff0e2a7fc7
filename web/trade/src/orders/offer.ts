/** What the exchange offers to an order, as `GET /settings/trading` says. */
import {
  CONDITIONAL_TYPES,
  type OrderType,
  type SelfTradePrevention,
  type TimeInForce,
  type TriggerSource,
} from "../api/orderKinds.ts";
import type { TradingRules } from "../api/queries.ts";

export interface Offer {
  types: readonly OrderType[];
  times: readonly TimeInForce[];
  triggers: readonly TriggerSource[];
  /** Modes that an order may choose; empty: the account's applies. */
  selfTradePrevention: readonly SelfTradePrevention[];
  postOnly: boolean;
  /** Whether a post-only order may move where it would trade, instead of being refused. */
  postOnlySlides: boolean;
  /** Orders that depend on each other. */
  lists: TradingRules["orderListTypes"];
  /** Whether a limit order may show less than it has. */
  icebergs: boolean;
}

const TYPES: readonly OrderType[] = ["limit", "market", ...CONDITIONAL_TYPES];
const TIMES: readonly TimeInForce[] = ["gtc", "ioc", "fok", "gtd"];
const TRIGGERS: readonly TriggerSource[] = ["last", "mark"];

/** The offer, in the order of the form; before it is known, what every exchange has. */
export function offerOf(rules: TradingRules | undefined): Offer {
  const among = <Name extends string>(known: readonly Name[], offered: readonly string[]) =>
    known.filter((name) => offered.includes(name));
  return {
    types: among(TYPES, rules?.orderTypes ?? ["limit", "market"]),
    times: among(TIMES, rules?.timesInForce ?? []),
    triggers: among(TRIGGERS, rules?.triggerSources ?? ["last"]),
    selfTradePrevention: rules?.selfTradePreventionModes ?? [],
    postOnly: rules?.postOnly ?? false,
    postOnlySlides: rules?.postOnlyModes.includes("slide") ?? false,
    lists: rules?.orderListTypes ?? [],
    icebergs: rules?.icebergs ?? false,
  };
}
