import { CopyIcon, PersonIcon } from "@primer/octicons-react";
import { useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { FilterBar, TextFilter } from "../parts/filters.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { choiceColumn, useSelection } from "../parts/selection.tsx";
import { USERS_MAX, UsersBulk } from "../parts/UsersBulk.tsx";
import { LockBadges } from "../parts/PersonBadges.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import { type FoundUser, useNewestUsers, useUserSearch } from "../people/queries.ts";
import { daysOf, spanOf } from "../people/span.ts";

const COLUMNS: readonly Column<FoundUser>[] = [
  { id: "id", title: "User", cell: ({ userId }) => <UserLink id={userId} /> },
  { id: "email", title: "E-mail", cell: ({ email }) => email ?? "account closed" },
  { id: "name", title: "Name", cell: ({ displayName }) => displayName ?? "–" },
  {
    id: "created",
    title: "Registered",
    cell: ({ createdAt }) => (createdAt === null ? "–" : <TimeText milliseconds={Date.parse(createdAt)} />),
  },
  { id: "locks", title: "Locked", cell: ({ locks }) => <LockBadges locks={locks} /> },
];
const NONE: readonly FoundUser[] = [];
const FOUND: Column<FoundUser> = { id: "found", title: "Found by", cell: ({ foundBy }) => foundBy };

/** Everybody who is registered, the newest first, or whom a text points at. */
export function UsersPage() {
  const url = useUrlState();
  const text = url.parameter("q");
  return (
    <>
      <PageHeader
        title="Users"
        actions={
          <>
            <SavedViews page="users" />
            {text === "" && (
              <SaveAsFile
                path="users"
                name="users"
                needs="users.export"
                given={{ ...spanOf(daysOf(url.parameter)) }}
              />
            )}
          </>
        }
      >
        Everybody who is registered. Search by what an e-mail or a name begins with, or by an exact id,
        address, transaction, trade, payment or order: its id, the client&apos;s, or the engine&apos;s number.
      </PageHeader>
      <Card flush>{text === "" ? <Newest /> : <Found text={text} />}</Card>
    </>
  );
}

function Search() {
  const url = useUrlState();
  const text = url.parameter("q");
  const { from, to } = daysOf(url.parameter);
  return (
    <FilterBar isFiltered={text + from + to !== ""} onClear={() => url.change({ q: null, ...NO_DAYS })}>
      <TextFilter
        label="E-mail, name, id, address, transaction or order"
        lengthMax={128}
        value={text}
        onChange={(q) => url.change({ q, ...NO_DAYS })}
      />
      {text === "" && <DayFilters url={url} />}
    </FilterBar>
  );
}

const idOf = ({ userId }: FoundUser) => userId;
const nameOf = ({ email, userId }: FoundUser) => email ?? userId;

/** The filters, and what can be done with the users that are chosen below them. */
function useBulk(users: readonly FoundUser[]) {
  const selection = useSelection(users.map(idOf), USERS_MAX);
  return {
    column: choiceColumn(selection, idOf, nameOf),
    toolbar: (
      <>
        <Search />
        <UsersBulk selection={selection} users={users} />
      </>
    ),
  };
}

function useActions() {
  const [, navigate] = useLocation();
  return ({ userId }: FoundUser) => [
    {
      label: "Open",
      icon: <PersonIcon />,
      onClick: () => navigate(`/users/${encodeURIComponent(userId)}`),
    },
    { label: "Copy user id", icon: <CopyIcon />, onClick: () => copyAndTell(userId) },
  ];
}

function Newest() {
  const url = useUrlState();
  const span = spanOf(daysOf(url.parameter));
  const { query, rows } = useNewestUsers(span);
  const actions = useActions();
  const { column, toolbar } = useBulk(rows ?? NONE);
  return (
    <DataTable
      label="Users"
      toolbar={toolbar}
      columns={[column, ...COLUMNS]}
      rows={rows}
      rowId={idOf}
      rowName={nameOf}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        Object.keys(span).length > 0 ? (
          <EmptyState title="Nobody registered then">Clear the days to see everybody.</EmptyState>
        ) : (
          <EmptyState title="Nobody is registered">Users register on the trading screen.</EmptyState>
        )
      }
      actions={actions}
      footer={<ShowOlder query={query} />}
    />
  );
}

function Found({ text }: { text: string }) {
  const query = useUserSearch(text);
  const actions = useActions();
  const { column, toolbar } = useBulk(query.data?.users ?? NONE);
  return (
    <DataTable
      label="Users"
      toolbar={toolbar}
      columns={[column, ...COLUMNS, FOUND]}
      rows={query.data?.users}
      rowId={idOf}
      rowName={nameOf}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title="Nobody is found">
          A part of an e-mail or a name needs three letters, and must be its beginning. Ids and addresses are
          found whole. Orders and trades that the archive has are not found.
        </EmptyState>
      }
      actions={actions}
      footer={
        query.data?.complete === false && (
          <WarningNote>There are more. Type more of it, so that all fit here.</WarningNote>
        )
      }
    />
  );
}
