import { useFullscreenElement } from "@mantine/hooks";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { type Market, useMarkets, useOpenOrders } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { ChartTools } from "../market/ChartTools.tsx";
import { MarketList } from "../market/MarketList.tsx";
import { NOTHING, type Own } from "../market/own.ts";
import { Panel as PanelBox } from "../market/Panel.tsx";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import { Loading } from "../parts/Loading.tsx";
import type { BookState } from "../stream/feeds.ts";
import classes from "./FurtherPanel.module.css";
import { type ChartChoice, INTERVALS, type Panel, panelOf } from "./model.ts";
import { titleOf } from "./titles.ts";

const CandleChart = late(() => import("../market/CandleChart.tsx"), {
  waiting: () => <Loading what={t("the chart")} />,
});
const DepthChart = late(() => import("../market/DepthChart.tsx"), {
  waiting: () => <Loading what={t("the chart")} />,
});

interface FurtherPanelProps {
  panel: Panel;
  /** The panel with another choice. */
  onPanel: (panel: Panel) => void;
  market: Market;
  book: BookState;
  own: Own;
}

/** A panel that the standard screen does not have: the depth, the list of markets, or a further chart. */
export default function FurtherPanel({ panel, onPanel, market, book, own }: FurtherPanelProps) {
  const title = titleOf(panel.id);
  if (panel.chart)
    return (
      <FurtherChart
        title={title}
        choice={panel.chart}
        onChoice={(chart) => onPanel({ ...panelOf(panel), chart })}
        market={market}
        own={own}
      />
    );
  return (
    <PanelBox title={title}>
      {panel.id === "depth" ? (
        <DepthChart market={market} state={book} />
      ) : (
        <MarketList current={market.symbol} onChoose={() => undefined} fills />
      )}
    </PanelBox>
  );
}

/** Candles of a market and an interval of its own. Only what the chart shows is asked for: one channel. */
function FurtherChart({
  title,
  choice,
  onChoice,
  market,
  own,
}: {
  title: string;
  choice: ChartChoice;
  onChoice: (choice: ChartChoice) => void;
  market: Market;
  own: Own;
}) {
  const { data: markets = [] } = useMarkets();
  const chosen = choice.symbol === null ? market : markets.find(({ symbol }) => symbol === choice.symbol);
  // One that is not listed any more: the chart is that of the page until another is chosen.
  const shown = chosen ?? market;
  const { session } = useSession();
  const { data: open } = useOpenOrders(shown.symbol);
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLElement>();
  return (
    <PanelBox
      ref={ref}
      title={`${shown.symbol} ${choice.interval}`}
      tools={
        <div className={classes.tools}>
          <ChoiceField
            size="xs"
            w={168}
            aria-label={t("Market of {title}", { title })}
            choices={[
              { value: "", label: t("This page's market") },
              ...markets.map(({ symbol }) => ({ value: symbol, label: symbol })),
            ]}
            value={chosen && choice.symbol !== null ? choice.symbol : ""}
            onChoice={(symbol) => onChoice({ ...choice, symbol: symbol === "" ? null : symbol })}
          />
          <ChoiceField
            size="xs"
            w={72}
            aria-label={t("Interval of {title}", { title })}
            choices={INTERVALS.map((value) => ({ value, label: value }))}
            value={choice.interval}
            onChoice={(name) => {
              const interval = INTERVALS.find((known) => known === name);
              if (interval) onChoice({ ...choice, interval });
            }}
          />
          <ChartTools
            symbol={shown.symbol}
            hasCandles
            isLogarithmic={choice.logarithmic}
            onScale={(logarithmic) => onChoice({ ...choice, logarithmic })}
            isFull={fullscreen}
            onFull={() => void toggle()}
          />
        </div>
      }
    >
      <CandleChart
        key={`${shown.symbol} ${choice.interval}`}
        market={shown}
        interval={choice.interval}
        last={undefined}
        isLogarithmic={choice.logarithmic}
        own={
          shown.symbol === market.symbol ? own : { ...NOTHING, orders: session && open ? open.orders : [] }
        }
      />
    </PanelBox>
  );
}
