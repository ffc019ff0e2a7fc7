/** What is read out while the layout is edited by keys. */
import { t } from "#lib/language.ts";
import { createStore } from "#lib/store.ts";
import { COLUMNS, type Place } from "./model.ts";
import { titleOf } from "./titles.ts";

/** The element that says which keys there are. */
export const HELP_ID = "layout-help";

/** The heading above the panels, which has the focus when what had it is gone. */
export const HEADING_ID = "layout-heading";

export const spoken = createStore("");

/** Say where a panel stands now. */
export function say({ id, x, y, w, h }: Place): void {
  spoken.set(
    t("{title}: columns {first} to {last} of {columns}, rows {top} to {bottom}", {
      title: titleOf(id),
      first: x + 1,
      last: x + w,
      columns: COLUMNS,
      top: y + 1,
      bottom: y + h,
    }),
  );
}
