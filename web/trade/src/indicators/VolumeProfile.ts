/** Draws how much was traded at which price, at the left of the candles. */
import type {
  IPrimitivePaneRenderer,
  IPrimitivePaneView,
  ISeriesPrimitive,
  SeriesAttachedParameter,
} from "lightweight-charts";
import { type Bar, type ProfileRow, volumeProfile } from "./values.ts";

/** The longest row takes this share of the chart's width. */
const WIDTH_SHARE = 0.25;
const GAP_PX = 1;

export class VolumeProfile implements ISeriesPrimitive {
  private place: SeriesAttachedParameter | null = null;
  private bars: readonly Bar[] = [];
  private count: number;
  private colours: { rising: string; falling: string };
  private readonly views: readonly IPrimitivePaneView[];

  constructor(count: number, colours: { rising: string; falling: string }) {
    this.count = count;
    this.colours = colours;
    const renderer: IPrimitivePaneRenderer = {
      draw: (target) =>
        target.useMediaCoordinateSpace(({ context, mediaSize }) => this.draw(context, mediaSize.width)),
    };
    this.views = [{ zOrder: () => "bottom", renderer: () => renderer }];
  }

  attached(place: SeriesAttachedParameter): void {
    this.place = place;
  }

  detached(): void {
    this.place = null;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.views;
  }

  show(bars: readonly Bar[]): void {
    this.bars = bars;
    this.place?.requestUpdate();
  }

  private rows(): ProfileRow[] {
    const range = this.place?.chart.timeScale().getVisibleLogicalRange();
    if (!range) return [];
    const from = Math.max(0, Math.ceil(range.from));
    return volumeProfile(this.bars.slice(from, Math.floor(range.to) + 1), this.count);
  }

  private draw(context: CanvasRenderingContext2D, width: number): void {
    const rows = this.rows();
    const most = rows.reduce((largest, { rising, falling }) => Math.max(largest, rising + falling), 0);
    if (most === 0) return;
    for (const { low, high, rising, falling } of rows) {
      const top = this.place?.series.priceToCoordinate(high);
      const bottom = this.place?.series.priceToCoordinate(low);
      if (top == null || bottom == null) continue;
      const height = Math.max(1, bottom - top - GAP_PX);
      const length = (volume: number) => (volume / most) * WIDTH_SHARE * width;
      context.fillStyle = this.colours.rising;
      context.fillRect(0, top, length(rising), height);
      context.fillStyle = this.colours.falling;
      context.fillRect(length(rising), top, length(falling), height);
    }
  }
}
