import { ChecklistIcon, FileIcon, PersonIcon } from "@primer/octicons-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useCan } from "../operator/session.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { VerificationBadge } from "../parts/PersonBadges.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { choiceColumn, SelectionBar, useSelection } from "../parts/selection.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import { USERS_MAX } from "../parts/UsersBulk.tsx";
import { VerificationDialog } from "../parts/VerificationDialog.tsx";
import { VerificationDocumentsDialog } from "../parts/VerificationDocuments.tsx";
import { VerificationsBulk } from "../parts/VerificationsBulk.tsx";
import { type QueuedVerification, useVerifications } from "../people/queries.ts";
import { daysOf, spanOf } from "../people/span.ts";

const STATES = [
  { value: "pending", label: "Waits for a decision" },
  { value: "on_hold", label: "On hold" },
  { value: "retry", label: "May try again" },
  { value: "approved", label: "Approved" },
  { value: "rejected", label: "Rejected" },
  { value: "not_started", label: "Not started" },
] as const;

const COLUMNS: readonly Column<QueuedVerification>[] = [
  { id: "since", title: "Since", cell: (row) => <TimeText milliseconds={Date.parse(row.waitsSince)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  { id: "level", title: "Level", cell: (row) => row.level },
  { id: "wanted", title: "Wants", cell: (row) => row.requestedLevel ?? "–" },
  { id: "state", title: "State", cell: (row) => <VerificationBadge status={row.status} /> },
  { id: "stated", title: "Information", cell: (row) => (row.hasInformation ? "stated" : "missing") },
  { id: "documents", title: "Documents", cell: (row) => formatCount(row.documents) },
];

const idOf = ({ userId }: QueuedVerification) => userId;

/** The queue of verifications, the one that waits longest first. */
export function VerificationsPage() {
  const url = useUrlState();
  const can = useCan();
  const [, navigate] = useLocation();
  const [decided, setDecided] = useState<QueuedVerification | null>(null);
  const [lookedAt, setLookedAt] = useState<string | null>(null);
  const status = STATES.find(({ value }) => value === url.parameter("state"))?.value ?? "pending";
  const span = spanOf(daysOf(url.parameter));
  const user = url.parameter("user");
  const given = { status, ...(user === "" ? {} : { userId: user }), ...span };
  const { query, rows } = useVerifications(given);
  const selection = useSelection((rows ?? []).map(idOf), USERS_MAX);
  const [bulk, setBulk] = useState<readonly string[] | null>(null);
  return (
    <>
      <PageHeader
        title="Verifications"
        actions={
          <>
            <SavedViews page="verifications" />
            <SaveAsFile path="verifications" name="verifications" needs="users.export" given={given} />
          </>
        }
      >
        Who has asked to be verified, the one that waits longest first. A decision counts like one of the
        provider, and a newer one overrides it.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Verifications"
          toolbar={
            <>
              <FilterBar
                isFiltered={status !== "pending" || user !== "" || Object.keys(span).length > 0}
                onClear={() => url.change({ state: null, user: null, ...NO_DAYS })}
              >
                <ChoiceFilter
                  label="State"
                  any="Waits for a decision"
                  value={status}
                  choices={STATES}
                  onChange={(state) => url.change({ state })}
                />
                <TextFilter label="User id" value={user} onChange={(next) => url.change({ user: next })} />
                <DayFilters url={url} />
              </FilterBar>
              <SelectionBar
                selection={selection}
                noun="verification"
                most={USERS_MAX}
                choices={[
                  {
                    label: "Decide on them…",
                    needs: "kyc.decide",
                    onClick: () => setBulk(selection.ids),
                  },
                ]}
              />
            </>
          }
          columns={[choiceColumn(selection, idOf, idOf), ...COLUMNS]}
          rows={rows}
          rowId={idOf}
          rowName={idOf}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title="No verification is in this state">
              Users begin a check in their account on the trading screen.
            </EmptyState>
          }
          actions={(row) => [
            {
              label: "Open and decide…",
              icon: <ChecklistIcon />,
              disabledReason: can("kyc.decide") ? undefined : "This needs the permission kyc.decide.",
              onClick: () => setDecided(row),
            },
            {
              label: "Look at it…",
              icon: <FileIcon />,
              onClick: () => setLookedAt(row.userId),
            },
            {
              label: "Open user",
              icon: <PersonIcon />,
              onClick: () => navigate(`/users/${encodeURIComponent(row.userId)}`),
            },
          ]}
          footer={<ShowOlder query={query} />}
        />
      </Card>
      {bulk && <VerificationsBulk ids={bulk} onClose={() => setBulk(null)} />}
      {lookedAt !== null && (
        <VerificationDocumentsDialog userId={lookedAt} onClose={() => setLookedAt(null)} />
      )}
      {decided && <VerificationDialog row={decided} onClose={() => setDecided(null)} />}
    </>
  );
}
