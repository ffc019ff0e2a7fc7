import { Button, Select, Tabs } from "@mantine/core";
import { CheckCircleIcon, DiffIcon, StopIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Link } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useParticipant, useSymbolNames } from "../engine/queries.ts";
import { explain } from "../engine/messages.ts";
import { ActivationDialog, FEE_ACCOUNT, useActivationFault } from "../parts/ActivationDialog.tsx";
import { adjustingPlace } from "../parts/adjusting.ts";
import { ActiveState } from "../parts/badges.tsx";
import { BalancesTable } from "../parts/BalancesTable.tsx";
import { Fact } from "../parts/Fact.tsx";
import { ChoiceFilter, FilterBar, StatusFilter } from "../parts/filters.tsx";
import { OrdersTable } from "../parts/OrdersTable.tsx";
import { RiskTable } from "../parts/RiskTable.tsx";
import { StpModeDialog } from "../parts/StpModeDialog.tsx";
import { TradesTable } from "../parts/TradesTable.tsx";
import { STP_MODES } from "../engine/catalogue.ts";
import classes from "./ParticipantPage.module.css";

const TABS = ["balances", "orders", "trades", "risk"] as const;

/** One participant: who it is, and its balances, orders, trades and risk. */
export function ParticipantPage({ participantId }: { participantId: string }) {
  const query = useParticipant(participantId);
  const url = useUrlState();
  const symbols = useSymbolNames();
  const faultOf = useActivationFault();
  const [isChanging, setChanging] = useState(false);
  const [newMode, setNewMode] = useState<string | null>(null);
  const participant = query.data;
  if (!participant && query.error) {
    return (
      <>
        <PageHeader title={participantId} />
        <Card>
          <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
        </Card>
      </>
    );
  }
  const tab = TABS.find((name) => name === url.parameter("tab")) ?? "balances";
  const fault = participant && faultOf(participant);
  const adjusting = adjustingPlace(participantId, participant?.type ?? "");
  const symbol = url.parameter("symbol");
  const status = url.parameter("status");
  const clear = () => url.change({ symbol: null, status: null });
  return (
    <>
      <PageHeader
        title={participantId}
        actions={
          participant && (
            <>
              <Button component={Link} href={adjusting.path} variant="default" leftSection={<DiffIcon />}>
                {adjusting.title}
              </Button>
              <Button
                variant="default"
                leftSection={participant.active ? <StopIcon /> : <CheckCircleIcon />}
                disabled={fault !== undefined}
                title={fault}
                onClick={() => setChanging(true)}
              >
                {participant.active ? "Deactivate" : "Activate"}
              </Button>
            </>
          )
        }
      >
        {participant?.name}
      </PageHeader>
      {query.error && (
        <div className={classes.stale}>
          <WarningNote>
            {explain(query.error).title}. {explain(query.error).advice}
          </WarningNote>
        </div>
      )}
      <Card>
        <dl className={classes.facts}>
          <Fact name="Participant id">
            <CopyText text={participantId} name="participant id" />
          </Fact>
          <Fact name="State">{participant && <ActiveState active={participant.active} />}</Fact>
          <Fact name="Type">{participant?.type}</Fact>
          <Fact name="Created">{participant && <TimeText milliseconds={participant.createdAt} />}</Fact>
          <Fact name="Self-trade prevention">
            {participant && (
              <Select
                aria-label="Self-trade prevention"
                size="xs"
                w={210}
                disabled={participantId === FEE_ACCOUNT}
                data={STP_MODES.map(({ mode, title }) => ({ value: mode, label: title }))}
                value={participant.stpMode}
                onChange={(mode) => mode !== null && mode !== participant.stpMode && setNewMode(mode)}
              />
            )}
          </Fact>
        </dl>
      </Card>
      <Tabs
        mt="md"
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          url.change({ tab: next === "balances" ? null : next, symbol: null, status: null, sort: null })
        }
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="balances">Balances</Tabs.Tab>
          <Tabs.Tab value="orders">Orders</Tabs.Tab>
          <Tabs.Tab value="trades">Trades</Tabs.Tab>
          <Tabs.Tab value="risk">Risk</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="balances">
          <Card flush>
            <BalancesTable participantId={participantId} currency="" url={url} showsParticipant={false} />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="orders">
          <Card flush>
            <OrdersTable
              filter={{ participantId, symbol, status }}
              url={url}
              showsParticipant={false}
              toolbar={
                <FilterBar isFiltered={symbol !== "" || status !== ""} onClear={clear}>
                  <SymbolFilter
                    value={symbol}
                    symbols={symbols}
                    onChange={(next) => url.change({ symbol: next })}
                  />
                  <StatusFilter value={status} onChange={(next) => url.change({ status: next })} />
                </FilterBar>
              }
            />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="trades">
          <Card flush>
            <TradesTable
              filter={{ participantId, symbol }}
              url={url}
              toolbar={
                <FilterBar isFiltered={symbol !== ""} onClear={clear}>
                  <SymbolFilter
                    value={symbol}
                    symbols={symbols}
                    onChange={(next) => url.change({ symbol: next })}
                  />
                </FilterBar>
              }
            />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="risk">
          <Card flush>
            <RiskTable participantId={participantId} url={url} showsParticipant={false} />
          </Card>
        </Tabs.Panel>
      </Tabs>
      {isChanging && participant && (
        <ActivationDialog participant={participant} onClose={() => setChanging(false)} />
      )}
      {newMode && participant && (
        <StpModeDialog participant={participant} mode={newMode} onClose={() => setNewMode(null)} />
      )}
    </>
  );
}

function SymbolFilter(props: { value: string; symbols: string[]; onChange: (value: string) => void }) {
  return (
    <ChoiceFilter
      label="Symbol"
      any="Any symbol"
      value={props.value}
      choices={props.symbols}
      onChange={props.onChange}
    />
  );
}
