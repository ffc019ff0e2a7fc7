import type { IChartApi } from "lightweight-charts";
import type { KeyboardEvent } from "react";

const STEP_BARS = 10;
const ZOOM = 0.8;

/** Move and zoom the chart with keys: arrows, + and −, and End for the newest candle. */
export function steer(chart: IChartApi, event: KeyboardEvent) {
  const scale = chart.timeScale();
  const range = scale.getVisibleLogicalRange();
  if (!range || event.ctrlKey || event.metaKey || event.altKey) return;
  const zoom = (factor: number) =>
    scale.setVisibleLogicalRange({ from: range.to - (range.to - range.from) * factor, to: range.to });
  const move = (bars: number) =>
    scale.setVisibleLogicalRange({ from: range.from + bars, to: range.to + bars });
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(-STEP_BARS),
    ArrowRight: () => move(STEP_BARS),
    "+": () => zoom(ZOOM),
    "-": () => zoom(1 / ZOOM),
    End: () => scale.scrollToRealTime(),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
