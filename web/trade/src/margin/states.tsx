import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { t, texts } from "#lib/language.ts";

type Look = readonly [words: string, tone: Tone, shape: string];

const POSITIONS: Readonly<Record<string, Look>> = texts({
  opening: ["Being opened", "warning", "◔"],
  open: ["Open", "positive", "●"],
  closing: ["Being closed", "warning", "◑"],
  liquidating: ["Being liquidated", "negative", "▲"],
  closed: ["Closed", "neutral", "○"],
  liquidated: ["Liquidated", "negative", "■"],
  failed: ["Not opened", "neutral", "×"],
});

const LOANS: Readonly<Record<string, Look>> = texts({
  pending: ["Being paid out", "warning", "◔"],
  active: ["Running", "positive", "●"],
  repaid: ["Repaid", "neutral", "○"],
  refused: ["Refused, the pool was empty", "neutral", "×"],
  written_off: ["Paid by the insurance", "negative", "■"],
});

function State({ looks, status }: { looks: Readonly<Record<string, Look>>; status: string }) {
  const [words, tone, shape] = looks[status] ?? [status, "neutral", "○"];
  return (
    <Badge tone={tone} shape={shape}>
      {t(words)}
    </Badge>
  );
}

export function PositionState({ status }: { status: string }) {
  return <State looks={POSITIONS} status={status} />;
}

export function LoanState({ status }: { status: string }) {
  return <State looks={LOANS} status={status} />;
}

export function Side({ side }: { side: string }) {
  return side === "buy" ? (
    <Badge tone="positive" shape="▲">
      {t("Long")}
    </Badge>
  ) : (
    <Badge tone="negative" shape="▼">
      {t("Short")}
    </Badge>
  );
}
