/** The indicators of a chart, whose code is loaded when the first one is shown. */
import type { IChartApi, ISeriesApi } from "lightweight-charts";
import { tellMissing } from "#lib/components/late.tsx";
import type { IndicatorLines, Reading } from "./lines.ts";
import type { Scheme } from "./palette.ts";
import { shown } from "./shown.ts";
import type { Bar } from "./values.ts";

const load = () => import("./lines.ts");
// Beside the candles themselves, so that the chart is drawn once with both.
if (shown.get() > 0) load().catch(() => undefined);

export interface LateIndicators {
  /** Draw in the colours of `scheme` from now on. */
  paint: (scheme: Scheme) => void;
  /** Draw every bar. */
  draw: (bars: readonly Bar[]) => void;
  /** Draw the newest bar alone, which has changed or is new. */
  drawNewest: (bars: readonly Bar[]) => void;
  /** What the indicators say of the bar that begins at `time`, in seconds; of the newest one without a time. */
  readings: (time: number | null) => Reading[];
  /** Nothing is loaded or drawn afterwards. */
  stop: () => void;
}

/** The indicators of `chart`, whose candles have `places` decimals. `onChange` is called when their readings change. */
export function createLateIndicators(
  chart: IChartApi,
  candles: ISeriesApi<"Candlestick">,
  places: number,
  onChange: () => void,
): LateIndicators {
  let lines: IndicatorLines | null = null;
  let bars: readonly Bar[] = [];
  let scheme: Scheme = "light";
  let isWanted = true;
  let leaveChoice: (() => void) | null = null;

  async function begin() {
    leave();
    const loaded = await load().catch(() => null);
    if (!isWanted) return;
    if (loaded === null) {
      tellMissing();
      // Another choice is another try.
      leave = shown.subscribe(beginIfShown);
      return;
    }
    const { createIndicatorLines, followChoice } = loaded;
    const created = createIndicatorLines(chart, candles, places);
    created.draw(bars);
    lines = created;
    leaveChoice = followChoice((choice) => {
      created.show(choice, scheme);
      onChange();
    });
  }
  const beginIfShown = () => {
    if (shown.get() > 0) void begin();
  };
  let leave = shown.subscribe(beginIfShown);
  beginIfShown();

  return {
    paint(next) {
      scheme = next;
      lines?.paint(next);
    },
    draw(next) {
      bars = next;
      lines?.draw(next);
    },
    drawNewest(next) {
      bars = next;
      lines?.drawNewest(next);
    },
    readings: (time) => lines?.readings(time) ?? [],
    stop() {
      isWanted = false;
      leave();
      leaveChoice?.();
    },
  };
}
