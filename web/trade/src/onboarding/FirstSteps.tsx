import { Button } from "@mantine/core";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { t } from "#lib/language.ts";
import { keptSymbol } from "../market/preferences.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./FirstSteps.module.css";
import { useProgress } from "./queries.ts";
import { firstSteps } from "./steps.ts";

/** What a new user does first. It is gone when all is done, or when the user hides it. */
export default function FirstSteps({
  userId,
  className,
}: {
  userId: string;
  className?: string | undefined;
}) {
  const key = `openspot.trade.firstSteps.${userId}`;
  const [isHidden, setHidden] = useState(() => localStorage.getItem(key) !== null);
  const progress = useProgress();
  if (isHidden || progress === null) return null;
  const steps = firstSteps(progress, keptSymbol());
  const open = steps.filter(({ isDone }) => !isDone);
  if (open.length === 0) return null;
  const hide = () => {
    localStorage.setItem(key, "hidden");
    setHidden(true);
  };
  return (
    <div className={className}>
      <Card
        title={t("First steps: {value} of {count} done", {
          value: steps.length - open.length,
          count: steps.length,
        })}
        actions={
          <Button variant="subtle" size="compact-sm" aria-label={t("Hide first steps")} onClick={hide}>
            {t("Hide|panel")}
          </Button>
        }
      >
        <ol className={classes.steps}>
          {steps.map(({ id, title, reason, isDone, way }) => (
            <li key={id} className={classes.step}>
              <div>
                <strong>{title}</strong>
                <p className={classes.reason}>{reason}</p>
              </div>
              {isDone ? (
                <Badge tone="positive" shape="●">
                  {t("Done")}
                </Badge>
              ) : (
                <PageLink href={way.href}>{way.label}</PageLink>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}
