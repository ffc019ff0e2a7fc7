import { Tabs } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { useUrlState } from "#lib/urlState.ts";
import { DownloadButton, DownloadState, useDownload } from "../history/download.tsx";
import { readFilter } from "../history/filter.ts";
import { Filters } from "../history/Filters.tsx";
import classes from "../history/History.module.css";
import { HistoryTable, type View } from "../history/HistoryTable.tsx";
import { CONVERTED, DEPOSITS, FILLS, LISTS, MOVEMENTS, ORDERS, STAKED, WITHDRAWN } from "../history/lists.ts";
import {
  ENDED_ORDER_CARD,
  endedOrderColumns,
  FILL_CARD,
  fillActions,
  fillColumns,
  fillId,
  fillName,
  orderActions,
  usePlaces,
} from "../orders/columns.tsx";
import { orderName } from "../orders/orderName.ts";
import { CONVERSION_COLUMNS, conversionName } from "../conversions/columns.tsx";
import { DEPOSIT_COLUMNS, depositActions, depositId } from "../deposits/columns.tsx";
import { amountName } from "../parts/amountName.ts";
import { MOVEMENT_COLUMNS, movementActions } from "../portfolio/columns.tsx";
import { STAKING_EVENT_COLUMNS } from "../staking/columns.tsx";
import { WITHDRAWAL_COLUMNS } from "../withdrawals/columns.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";

/** Orders that have ended and everything that moved the user's funds, to filter and to keep as a file. */
export default function HistoryPage() {
  const { parameter, change } = useUrlState();
  const zone = useZone();
  const download = useDownload();
  const list = LISTS.find(({ name }) => name === parameter("list")) ?? ORDERS;
  const tabs = useRef<HTMLDivElement>(null);
  // On a phone the tabs are a strip that is wider than the window.
  useEffect(() => {
    const chosen = tabs.current?.querySelector("[aria-selected=true]");
    chosen?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [list.name]);
  const filter = readFilter(parameter, list.subject, zone);
  const view: View = {
    filter,
    change,
    toolbar: (
      <>
        <Filters about={list.subject} filter={filter} change={change} />
        <DownloadButton download={download.download} list={list} filter={filter} />
      </>
    ),
  };
  return (
    <div className={classes.page}>
      <PageHeader title={t("History")}>
        {t(
          "Your orders that have ended, and everything that moved your funds. Files have exact amounts and times in UTC.",
        )}
      </PageHeader>
      <FundsNavigation />
      <Card flush>
        <Tabs
          value={list.name}
          onChange={(name) => change({ list: name === ORDERS.name ? null : name })}
          keepMounted={false}
        >
          <Tabs.List ref={tabs} className={classes.tabs}>
            {LISTS.map(({ name, title }) => (
              <Tabs.Tab key={name} value={name}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <DownloadState download={download} />
          {LISTS.map(({ name }) => (
            <Tabs.Panel key={name} value={name}>
              <Content name={name} view={view} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Card>
    </div>
  );
}

const copyId = ({ id }: { id: string }) => [{ label: t("Copy id"), onClick: () => copyAndTell(id) }];
const idOf = ({ id }: { id: string }) => id;

function Content({ name, view }: { name: string; view: View }) {
  const places = usePlaces();
  switch (name) {
    case FILLS.name:
      return (
        <HistoryTable
          view={view}
          list={FILLS}
          columns={fillColumns(places)}
          card={FILL_CARD}
          rowId={fillId}
          rowName={fillName}
          actions={fillActions}
          empty={t("Each trade of your orders appears here.")}
        />
      );
    case DEPOSITS.name:
      return (
        <HistoryTable
          view={view}
          list={DEPOSITS}
          columns={DEPOSIT_COLUMNS}
          rowId={depositId}
          rowName={amountName}
          actions={depositActions}
          empty={t("What reaches your addresses, comes by bank or is booked by the exchange appears here.")}
        />
      );
    case WITHDRAWN.name:
      return (
        <HistoryTable
          view={view}
          list={WITHDRAWN}
          columns={WITHDRAWAL_COLUMNS}
          rowId={idOf}
          rowName={amountName}
          actions={copyId}
          empty={t("What you withdraw appears here.")}
        />
      );
    case CONVERTED.name:
      return (
        <HistoryTable
          view={view}
          list={CONVERTED}
          columns={CONVERSION_COLUMNS}
          rowId={idOf}
          rowName={conversionName}
          actions={copyId}
          empty={t("What you convert appears here.")}
        />
      );
    case STAKED.name:
      return (
        <HistoryTable
          view={view}
          list={STAKED}
          columns={STAKING_EVENT_COLUMNS}
          rowId={idOf}
          rowName={amountName}
          empty={t("Stakes, rewards and payouts appear here.")}
        />
      );
    case MOVEMENTS.name:
      return (
        <HistoryTable
          view={view}
          list={MOVEMENTS}
          columns={MOVEMENT_COLUMNS}
          rowId={({ transactionId }) => transactionId}
          rowName={amountName}
          actions={movementActions}
          empty={t("Each change of a balance appears here.")}
        />
      );
    default:
      return (
        <HistoryTable
          view={view}
          list={ORDERS}
          columns={endedOrderColumns(places)}
          card={ENDED_ORDER_CARD}
          rowId={({ orderId }) => orderId}
          rowName={orderName}
          actions={orderActions}
          empty={t("Orders that were filled, cancelled or rejected appear here.")}
        />
      );
  }
}
