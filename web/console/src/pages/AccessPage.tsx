import { Stack } from "@mantine/core";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { plural } from "#lib/counts.ts";
import { useUrlState } from "#lib/urlState.ts";
import { ENFORCED, PARTICIPANT_TYPES, PERMISSION_GROUPS } from "../engine/catalogue.ts";
import { explainIfAny } from "../engine/messages.ts";
import { NAVIGATION } from "../frame/navigation.tsx";
import { OPENED } from "../operator/opened.ts";
import { useRoles } from "../operator/queries.ts";
import { ROLES } from "../operator/roles.ts";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import classes from "./AccessPage.module.css";

const EVERY_PAGE = "*";
const PAGES = NAVIGATION.flatMap((group) => group.entries);

/** Where a permission opens something, in words. */
function openedBy(name: string): string {
  const paths = OPENED[name];
  if (paths === undefined) return "opens nothing";
  if (paths.includes(EVERY_PAGE)) return "opens every page";
  const titles = PAGES.filter(({ path }) => paths.includes(path)).map(({ title }) => title);
  return `opens ${titles.join(" · ")}`;
}

/** The catalogue of participant types, of operators' roles, and of permissions with their holders. */
export function AccessPage() {
  const url = useUrlState();
  const roles = useRoles();
  const rolesWith = (name: string) =>
    roles.data
      ?.filter(({ permissions }) => permissions.some((each) => each === name))
      .map(({ role }) => role) ?? [];
  const problem = explainIfAny(roles.error);
  const type = url.parameter("type");
  const word = url.parameter("word").toLowerCase();
  const groups = PERMISSION_GROUPS.map((group) => ({
    ...group,
    permissions: group.permissions.filter(
      ({ name, title, holders }) =>
        (type === "" ||
          holders.some((holder) => holder === type) ||
          rolesWith(name).some((role) => role === type)) &&
        (name.includes(word) || title.toLowerCase().includes(word)),
    ),
  })).filter(({ permissions }) => permissions.length > 0);
  const count = groups.reduce((sum, { permissions }) => sum + permissions.length, 0);
  return (
    <>
      <PageHeader title="Types and permissions" actions={<SavedViews page="access" />}>
        The {PARTICIPANT_TYPES.length} types of participants, the {ROLES.length} roles of operators, and the
        permissions of each.
      </PageHeader>
      <Stack gap="md">
        <WarningNote>{ENFORCED}</WarningNote>
        <Card title="Participant types">
          <ul className={classes.types}>
            {PARTICIPANT_TYPES.map((row) => (
              <li key={row.type}>
                <div className={classes.typeHead}>
                  <strong>{row.title}</strong>
                  <code>{row.type}</code>
                </div>
                <p>{row.description}</p>
                <Badge tone={row.creatable ? "accent" : "neutral"}>
                  {row.creatable ? "Can be created" : "Role of a team"}
                </Badge>
              </li>
            ))}
          </ul>
        </Card>
        <Card title="Roles of operators">
          {problem && <ProblemNote problem={problem} />}
          <ul className={classes.types}>
            {ROLES.map(({ role, title, description }) => {
              const count = roles.data?.find((each) => each.role === role)?.permissions.length;
              return (
                <li key={role}>
                  <div className={classes.typeHead}>
                    <strong>{title}</strong>
                    <code>{role}</code>
                  </div>
                  <p>{description}</p>
                  <Badge tone="neutral">{count === undefined ? "…" : plural(count, "permission")}</Badge>
                </li>
              );
            })}
          </ul>
        </Card>
        <Card
          title="Permissions"
          flush
          actions={<span className={classes.count}>{plural(count, "permission")}</span>}
        >
          <div className={classes.filters}>
            <FilterBar
              isFiltered={type !== "" || word !== ""}
              onClear={() => url.change({ type: null, word: null })}
            >
              <TextFilter
                label="Name or words"
                value={url.parameter("word")}
                onChange={(next) => url.change({ word: next })}
              />
              <ChoiceFilter
                label="Held by"
                any="Held by any type or role"
                value={type}
                choices={[
                  ...ROLES.map(({ role }) => role),
                  ...PARTICIPANT_TYPES.map((row) => row.type),
                ].filter((name, place, all) => all.indexOf(name) === place)}
                onChange={(next) => url.change({ type: next })}
              />
            </FilterBar>
          </div>
          {groups.length === 0 && (
            <EmptyState title="No permission matches">Clear a filter to see all of them.</EmptyState>
          )}
          {groups.map((group) => (
            <table key={group.title} className={classes.permissions} aria-label={group.title}>
              <thead>
                <tr>
                  <th scope="colgroup" colSpan={5}>
                    {group.title}
                  </th>
                </tr>
              </thead>
              <tbody>
                {group.permissions.map((permission) => (
                  <tr key={permission.name}>
                    <th scope="row">
                      <code>{permission.name}</code>
                    </th>
                    <td>{permission.title}</td>
                    <td className={classes.holders}>{openedBy(permission.name)}</td>
                    <td className={classes.holders}>{rolesWith(permission.name).join(" · ") || "no role"}</td>
                    <td className={classes.holders}>{permission.holders.join(" · ")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ))}
        </Card>
      </Stack>
    </>
  );
}
