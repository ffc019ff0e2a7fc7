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
import { useSession } from "../engine/session.ts";
import { useOperatedParticipant, useSource } from "../operator/participants.ts";
import { useCan } from "../operator/session.ts";
import { ActivationDialog, FEE_ACCOUNT, useActivationFault } from "../parts/ActivationDialog.tsx";
import { adjustingPlace } from "../parts/adjusting.ts";
import { FreezeState } from "../parts/badges.tsx";
import { BalancesTable } from "../parts/BalancesTable.tsx";
import { Fact } from "../parts/Fact.tsx";
import { ChoiceFilter, FilterBar, StatusFilter } from "../parts/filters.tsx";
import { FreezeDialog, freezeFault } from "../parts/FreezeDialog.tsx";
import { OrdersTable } from "../parts/OrdersTable.tsx";
import { RiskTable } from "../parts/RiskTable.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { seenByAdministrator, type SeenParticipant } from "../parts/seenParticipant.ts";
import { StpModeDialog } from "../parts/StpModeDialog.tsx";
import { TradesTable } from "../parts/TradesTable.tsx";
import { STP_MODES } from "../engine/catalogue.ts";
import classes from "./ParticipantPage.module.css";

const TABS = [
  { name: "balances", title: "Balances" },
  { name: "orders", title: "Orders" },
  { name: "trades", title: "Trades" },
  { name: "risk", title: "Risk" },
] as const;

/** One participant: who it is, and its balances, orders, trades and risk. */
export function ParticipantPage({ participantId }: { participantId: string }) {
  const isOperated = useSource("participants.read") === "edge";
  const ofEngine = useParticipant(participantId, !isOperated);
  const ofEdge = useOperatedParticipant(participantId, isOperated);
  const query = isOperated ? ofEdge : ofEngine;
  const url = useUrlState();
  const hasEngine = useSession().session !== null;
  const can = useCan();
  const symbols = useSymbolNames(hasEngine);
  const faultOf = useActivationFault();
  const [asked, setAsked] = useState<"activation" | "freeze" | null>(null);
  const [newMode, setNewMode] = useState<string | null>(null);
  const participant: SeenParticipant | undefined = isOperated
    ? ofEdge.data
    : ofEngine.data && seenByAdministrator(ofEngine.data);
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
  const opened = {
    balances: hasEngine || can("balances.read_all"),
    orders: hasEngine,
    trades: hasEngine,
    risk: hasEngine || can("risk.read"),
  };
  const tabs = TABS.filter(({ name }) => opened[name]);
  const tab = tabs.find(({ name }) => name === url.parameter("tab"))?.name ?? tabs[0]?.name ?? null;
  const isActive = participant?.state === "active";
  const isFrozen = participant?.state === "frozen";
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
              <SavedViews page="participant" />
              {hasEngine && (
                <Button component={Link} href={adjusting.path} variant="default" leftSection={<DiffIcon />}>
                  {adjusting.title}
                </Button>
              )}
              {isOperated && can("risk.freeze_participant") && (
                <Button
                  variant="default"
                  leftSection={isFrozen ? <CheckCircleIcon /> : <StopIcon />}
                  disabled={freezeFault(participant) !== undefined}
                  title={freezeFault(participant)}
                  onClick={() => setAsked("freeze")}
                >
                  {isFrozen ? "End the freeze" : "Freeze"}
                </Button>
              )}
              {hasEngine && (
                <Button
                  variant="default"
                  leftSection={isActive ? <StopIcon /> : <CheckCircleIcon />}
                  disabled={fault !== undefined}
                  title={fault}
                  onClick={() => setAsked("activation")}
                >
                  {isActive ? "Deactivate" : "Activate"}
                </Button>
              )}
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
          <Fact name="State">{participant && <FreezeState state={participant.state} />}</Fact>
          <Fact name="Type">{participant?.type}</Fact>
          <Fact name="Created">{participant && <TimeText milliseconds={participant.createdAt} />}</Fact>
          <Fact name="Self-trade prevention">
            {participant && !hasEngine && modeTitle(participant.stpMode)}
            {participant && hasEngine && (
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
          {tabs.map(({ name, title }) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
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
      {asked === "activation" && participant && (
        <ActivationDialog participant={participant} onClose={() => setAsked(null)} />
      )}
      {asked === "freeze" && participant && (
        <FreezeDialog participant={participant} onClose={() => setAsked(null)} />
      )}
      {newMode && participant && (
        <StpModeDialog participant={participant} mode={newMode} onClose={() => setNewMode(null)} />
      )}
    </>
  );
}

function modeTitle(stpMode: string): string {
  return STP_MODES.find(({ mode }) => mode === stpMode)?.title ?? stpMode;
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
