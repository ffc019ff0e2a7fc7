import { ActionIcon, Button } from "@mantine/core";
import { PencilIcon, ScreenFullIcon, ScreenNormalIcon } from "@primer/octicons-react";
import { t } from "#lib/language.ts";
import { useStore } from "#lib/store.ts";
import { areToolsOpen, openTools } from "../drawings/kept.ts";
import { IndicatorMenu } from "../indicators/IndicatorMenu.tsx";
import classes from "./ChartPanel.module.css";
import { CompareMenu } from "./CompareMenu.tsx";
import { useCompared } from "./compared.ts";

interface ChartToolsProps {
  symbol: string;
  /** Whether candles are shown: the other views have no indicators, drawings or scales. */
  hasCandles: boolean;
  isLogarithmic: boolean;
  onScale: (isLogarithmic: boolean) => void;
  isFull: boolean;
  onFull: () => void;
}

/** What a chart can do beside showing candles. Indicators, drawings and comparison are those of all charts. */
export function ChartTools({ symbol, hasCandles, isLogarithmic, onScale, isFull, onFull }: ChartToolsProps) {
  const hasTools = useStore(areToolsOpen);
  const isCompared = useCompared(symbol).length > 0;
  return (
    <div className={classes.tools}>
      {hasCandles && (
        <>
          <IndicatorMenu />
          <CompareMenu symbol={symbol} />
          <ActionIcon
            variant={hasTools ? "light" : "subtle"}
            color={hasTools ? "accent" : "gray"}
            aria-label={t("Draw on the chart")}
            aria-pressed={hasTools}
            title={t("Draw on the chart")}
            onClick={() => openTools(!hasTools)}
          >
            <PencilIcon />
          </ActionIcon>
          <Button
            size="compact-xs"
            variant={isLogarithmic ? "light" : "default"}
            aria-pressed={isLogarithmic}
            aria-label={t("Logarithmic scale")}
            disabled={isCompared}
            {...(isCompared ? { title: t("While markets are compared the scale is in percent.") } : {})}
            onClick={() => onScale(!isLogarithmic)}
          >
            {t("Log")}
          </Button>
        </>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isFull ? t("Leave full screen") : t("Full screen")}
        aria-pressed={isFull}
        onClick={onFull}
      >
        {isFull ? <ScreenNormalIcon /> : <ScreenFullIcon />}
      </ActionIcon>
    </div>
  );
}
