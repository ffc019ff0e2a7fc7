import { ActionIcon, Select } from "@mantine/core";
import { ChevronLeftIcon, ChevronRightIcon, MoveToEndIcon, MoveToStartIcon } from "@primer/octicons-react";
import { rich, t } from "../language.ts";
import { formatCount, parseCount } from "../counts.ts";
import { type Page, PAGE_SIZES, pageCount, pageRange } from "../paging.ts";
import classes from "./Pager.module.css";

interface PagerProps {
  page: Page;
  total: number;
  onChange: (page: Page) => void;
}

/** Which rows are shown, and the way to the others. */
export function Pager({ page, total, onChange }: PagerProps) {
  const { first, last } = pageRange(page, total);
  const end = pageCount(total, page.size) - 1;
  const go = (index: number) => onChange({ ...page, index });
  const steps = [
    { label: t("First page"), icon: <MoveToStartIcon />, index: 0, isOff: page.index === 0 },
    { label: t("Previous page"), icon: <ChevronLeftIcon />, index: page.index - 1, isOff: page.index === 0 },
    { label: t("Next page"), icon: <ChevronRightIcon />, index: page.index + 1, isOff: page.index >= end },
    { label: t("Last page"), icon: <MoveToEndIcon />, index: end, isOff: page.index >= end },
  ];
  return (
    <nav className={classes.pager} aria-label={t("Pages")}>
      <Select
        aria-label={t("Rows on a page")}
        size="xs"
        w={112}
        data={PAGE_SIZES.map((size) => ({ value: String(size), label: t("{size} rows", { size }) }))}
        value={String(page.size)}
        onChange={(size) => onChange({ index: 0, size: parseCount(size) ?? page.size })}
      />
      <span className="figures" aria-live="polite">
        {rich("{first}–{last} of {total}", {
          first: formatCount(first),
          last: formatCount(last),
          total: formatCount(total),
        })}
      </span>
      <span className={classes.steps}>
        {steps.map(({ label, icon, index, isOff }) => (
          <ActionIcon
            key={label}
            variant="default"
            size="md"
            aria-label={label}
            disabled={isOff}
            onClick={() => go(index)}
          >
            {icon}
          </ActionIcon>
        ))}
      </span>
    </nav>
  );
}
