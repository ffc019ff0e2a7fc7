import { type ReactNode, useMemo } from "react";
import type { Market } from "../api/queries.ts";
import type { Own } from "../market/own.ts";
import type { BookState } from "../stream/feeds.ts";
import { inReadingOrder, panelOf, type Panel, type PanelId, PANELS, type Place, placed } from "./model.ts";
import classes from "./Places.module.css";
import { late, MissingSign } from "#lib/components/late.tsx";
import type { ScreenLayout } from "./useLayout.ts";

const EditFrame = late(() => import("./EditFrame.tsx"), { Missing: MissingSign });
const FurtherPanel = late(() => import("./FurtherPanel.tsx"));

/** The panels of the standard, in the order in which they are read. */
const STANDARD = ["chart", "book", "trades", "form", "orders"] as const;
type StandardId = (typeof STANDARD)[number];

interface PlacesProps {
  screen: ScreenLayout;
  parts: Readonly<Record<StandardId, ReactNode>>;
  /** The classes that give the parts their places in the standard. */
  standard: Readonly<Record<string, string | undefined>>;
  market: Market;
  book: BookState;
  own: Own;
}

/** The panels of the trading screen: at the places of the standard, or at those of a layout of the reader's own. */
export function Places({ screen, parts, standard, ...shown }: PlacesProps) {
  const { layout, isEditing } = screen;
  const places = useMemo(() => layout && inOrder(placed(layout), isEditing), [layout, isEditing]);
  if (!places)
    return STANDARD.map((id) => (
      <div key={id} className={standard[id]}>
        <div className={classes.plain}>{parts[id]}</div>
      </div>
    ));
  const choose = (next: Panel) =>
    screen.set(places.map((place) => (place.id === next.id ? next : panelOf(place))));
  return places.map((place) => (
    <div key={place.id} className={classes.place} style={{ gridArea: areaOf(place) }}>
      <div className={classes.content} data-panel={place.id} inert={isEditing}>
        {isStandard(place.id) ? parts[place.id] : <FurtherPanel panel={place} onPanel={choose} {...shown} />}
      </div>
      {isEditing && <EditFrame screen={screen} place={place} />}
    </div>
  ));
}

const isStandard = (id: PanelId): id is StandardId => STANDARD.some((known) => known === id);

/** The first row has the header of the market. */
const areaOf = ({ x, y, w, h }: Place) =>
  `${String(y + 2)} / ${String(x + 1)} / span ${String(h)} / span ${String(w)}`;

/** As the panels are read; while somebody holds one, none changes its place in the page. */
function inOrder(places: Place[], isEditing: boolean): Place[] {
  return isEditing
    ? places.sort((a, b) => PANELS.indexOf(a.id) - PANELS.indexOf(b.id))
    : inReadingOrder(places);
}
