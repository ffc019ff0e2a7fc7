import { SegmentedControl } from "@mantine/core";
import { type ComponentProps, memo, useCallback, useRef } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useSession } from "../api/session.ts";
import { Panel } from "../market/Panel.tsx";
import { OrderForm } from "../orders/OrderForm.tsx";
import { Loading } from "../parts/Loading.tsx";
import { chooseMode, useMode } from "./mode.ts";

const MarginForm = late(() => import("./MarginForm.tsx"), {
  waiting: () => <Loading what={t("the form")} />,
});

type TradeFormProps = Omit<ComponentProps<typeof OrderForm>, "tools">;

/** The order form, or the form for margin positions where the market has that mode and the user has chosen it. */
export const TradeForm = memo(function TradeForm(order: TradeFormProps) {
  const { session } = useSession();
  const { market, draft, onDraft, onPlaced } = order;
  const mode = useMode(market);
  const chooseSide = useCallback((side: "buy" | "sell") => onDraft({ side }), [onDraft]);
  const isChosen = useRef(false);
  if (session === null || !market.margin) return <OrderForm {...order} />;
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label={t("Trade with")}
      data={[
        { value: "spot", label: t("Spot") },
        { value: "margin", label: t("Margin") },
      ]}
      value={mode}
      onChange={(next) => {
        isChosen.current = true;
        chooseMode(market.symbol, next === "margin" ? "margin" : "spot");
      }}
      // The other form brings a choice of its own, in which the keyboard goes on.
      ref={(node) => {
        if (!node || !isChosen.current) return;
        isChosen.current = false;
        node.querySelector<HTMLElement>(":checked")?.focus();
      }}
    />
  );
  if (mode === "spot") return <OrderForm {...order} tools={choice} />;
  return (
    <Panel title={t("Order")} tools={choice}>
      <MarginForm market={market} side={draft.side} onSide={chooseSide} onPlaced={onPlaced} />
    </Panel>
  );
});
