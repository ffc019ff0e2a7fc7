import { Button } from "@mantine/core";
import { CheckIcon, PlusIcon } from "@primer/octicons-react";
import { useEffect, useRef } from "react";
import { t } from "#lib/language.ts";
import { useStore } from "#lib/store.ts";
import { hidden, nextChart, shownAgain } from "./changes.ts";
import classes from "./EditBar.module.css";
import { isOwnChart, PANELS } from "./model.ts";
import { HEADING_ID, HELP_ID, spoken } from "./spoken.ts";
import { titleOf } from "./titles.ts";
import type { ScreenLayout } from "./useLayout.ts";

/** Stands above the panels while the layout is edited: what is shown, further charts, and how editing ends. */
export default function EditBar({ screen }: { screen: ScreenLayout }) {
  const layout = screen.layout ?? [];
  const said = useStore(spoken);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    spoken.set("");
    heading.current?.focus();
  }, []);
  const isShown = (id: (typeof PANELS)[number]) => layout.some((panel) => panel.id === id);
  const chart = nextChart(layout);
  return (
    <section className={classes.bar} aria-label={t("Edit layout")}>
      <div className={classes.words}>
        <h2 id={HEADING_ID} className={classes.title} ref={heading} tabIndex={-1}>
          {t("Edit layout")}
        </h2>
        <p id={HELP_ID} className={classes.help}>
          {t(
            "Drag a panel at its title, size it at its edges. Keys: arrows move the panel in focus, with Shift they size it.",
          )}
        </p>
        <p className={classes.spoken} aria-live="polite">
          {said}
        </p>
      </div>
      <div className={classes.row}>
        <div className={classes.panels} role="group" aria-label={t("Panels shown")}>
          {PANELS.filter((id) => isShown(id) || !isOwnChart(id)).map((id) => {
            const isOn = isShown(id);
            return (
              <Button
                key={id}
                size="compact-sm"
                variant={isOn ? "light" : "default"}
                aria-pressed={isOn}
                leftSection={isOn ? <CheckIcon size={12} /> : undefined}
                disabled={isOn && layout.length === 1}
                onClick={() =>
                  screen.change(isOn ? hidden(layout, id) : shownAgain(layout, screen.width, id))
                }
              >
                {titleOf(id)}
              </Button>
            );
          })}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<PlusIcon size={12} />}
            disabled={chart === null}
            onClick={() => chart && screen.change(shownAgain(layout, screen.width, chart))}
          >
            {t("Add a chart")}
          </Button>
        </div>
        <div className={classes.ends}>
          <Button size="compact-sm" variant="default" onClick={screen.reset}>
            {t("Standard layout")}
          </Button>
          <Button size="compact-sm" variant="default" onClick={screen.cancel}>
            {t("Cancel")}
          </Button>
          <Button size="compact-sm" onClick={screen.finish}>
            {t("Keep the layout")}
          </Button>
        </div>
      </div>
    </section>
  );
}
