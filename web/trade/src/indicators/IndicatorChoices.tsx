import { Button, Checkbox, TextInput } from "@mantine/core";
import { useState } from "react";
import { parseCount } from "#lib/counts.ts";
import { t } from "#lib/language.ts";
import {
  choose,
  type Indicator,
  INDICATORS,
  isAllowed,
  type Parameter,
  resetChoice,
  titleOf,
  useChoice,
} from "./choice.ts";
import classes from "./IndicatorChoices.module.css";

/** The indicators of the chart, to choose from, with their periods. */
export default function IndicatorChoices() {
  // Fields that hold what is not allowed are forgotten by a reset.
  const [resets, setResets] = useState(0);
  const reset = () => {
    resetChoice();
    setResets((before) => before + 1);
  };
  return (
    <div className={classes.list} key={resets}>
      {INDICATORS.map((indicator) => (
        <Row key={indicator.id} indicator={indicator} />
      ))}
      <Button size="compact-sm" variant="default" className={classes.reset} onClick={reset}>
        {t("Hide all and reset")}
      </Button>
    </div>
  );
}

function Row({ indicator }: { indicator: Indicator }) {
  const { id, meaning, parameters } = indicator;
  const { isShown = false, parameters: values = indicator.defaults } = useChoice()[id] ?? {};
  const change = (at: number, value: number) =>
    choose(id, { parameters: values.map((before, place) => (place === at ? value : before)) });
  const title = titleOf(indicator, values);
  return (
    <div className={classes.row} role="group" aria-label={title}>
      <Checkbox
        size="sm"
        label={title}
        description={meaning}
        checked={isShown}
        onChange={({ currentTarget }) => choose(id, { isShown: currentTarget.checked })}
      />
      {isShown && parameters.length > 0 && (
        <div className={classes.fields}>
          {parameters.map((parameter, at) => (
            <Field
              key={parameter.name}
              parameter={parameter}
              value={values[at] ?? parameter.least}
              onValue={(value) => change(at, value)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

function Field({
  parameter,
  value,
  onValue,
}: {
  parameter: Parameter;
  value: number;
  onValue: (value: number) => void;
}) {
  const { name, least, most } = parameter;
  const [typed, setTyped] = useState(String(value));
  const number = parseCount(typed);
  const isRight = isAllowed(parameter, number);
  return (
    <TextInput
      size="xs"
      label={name}
      inputMode="numeric"
      autoComplete="off"
      maxLength={3}
      value={typed}
      error={isRight ? null : t("{least} to {most}", { least: String(least), most: String(most) })}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const next = parseCount(currentTarget.value);
        if (isAllowed(parameter, next)) onValue(next);
      }}
    />
  );
}
