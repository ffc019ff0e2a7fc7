import { ActionIcon, Button, Popover, Title, Tooltip } from "@mantine/core";
import { BellIcon } from "@primer/octicons-react";
import { useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { Badge } from "#lib/components/Badge.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { late, MissingDialog } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useTold } from "../account/queries.ts";
import { learn, markNoticesRead, useNotices } from "../api/keptNotices.ts";
import { type Notice, pageOf, withShownAmounts } from "../api/notices.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./Notices.module.css";

const AlertDialog = late(() => import("../alerts/AlertDialog.tsx"), { Missing: MissingDialog });

const SHOWN_MAX = 9;
/** By then a page has asked for what it shows: an edge takes ten requests a second of a user. */
const SETTLED_MS = 1_500;
const SYMBOL = /^\/([A-Z0-9]+-[A-Z0-9]+)$/;

/** How many notices are unread, and the list of them. To open it is to read it. */
export default function Notices({ userId }: { userId: string }) {
  const notices = useNotices(userId);
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(true), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, []);
  const { data: told } = useTold(userId, isSettled);
  useEffect(() => {
    if (told) learn(userId, told);
  }, [userId, told]);
  const [isOpen, setOpen] = useState(false);
  const [isAlerting, setAlerting] = useState(false);
  const [location] = useLocation();
  /** Those that were unread when the list was opened, which stay marked until it is closed. */
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const headingId = useId();
  const unread = notices.filter(({ isRead }) => !isRead);
  const show = (wanted: boolean) => {
    setFresh(new Set(wanted ? unread.map(({ id }) => id) : []));
    setOpen(wanted);
    markNoticesRead(userId);
  };
  const close = () => show(false);
  const list = (
    <Popover
      opened={isOpen}
      onChange={show}
      position="bottom-end"
      shadow="md"
      width="min(380px, calc(100vw - 16px))"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Tooltip label={t("Notices")} disabled={isOpen}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            className={classes.bell}
            aria-label={
              unread.length === 0 ? t("Notices") : t("Notices, {count} unread", { count: unread.length })
            }
            onClick={() => show(!isOpen)}
          >
            <BellIcon />
            {unread.length > 0 && (
              <span aria-hidden className={classes.count}>
                {unread.length > SHOWN_MAX ? `${SHOWN_MAX}+` : unread.length}
              </span>
            )}
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown} aria-labelledby={headingId}>
        <Title order={2} id={headingId} className={classes.title}>
          {t("Notices")}
        </Title>
        {notices.length === 0 ? (
          <EmptyState title={t("No notices")}>
            {t("What the exchange tells you appears here, and stays.")}
          </EmptyState>
        ) : (
          <div className={classes.scroll} role="region" aria-label={t("Notices, scrollable")} tabIndex={0}>
            <ul className={classes.list} aria-label={t("Notices")}>
              {notices.map((notice) => (
                <Item
                  key={notice.id}
                  notice={notice}
                  isNew={!notice.isRead || fresh.has(notice.id)}
                  onLeave={close}
                />
              ))}
            </ul>
          </div>
        )}
        <p className={classes.foot}>
          <PageLink href="/account/notifications" onClick={close}>
            {t("Choose what you are told")}
          </PageLink>
          <PageLink href="/alerts" onClick={close}>
            {t("Price alerts")}
          </PageLink>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              close();
              setAlerting(true);
            }}
          >
            {t("Alert me…")}
          </Button>
        </p>
      </Popover.Dropdown>
    </Popover>
  );
  return (
    <>
      {list}
      {isAlerting && (
        <AlertDialog symbol={SYMBOL.exec(location)?.[1] ?? null} onClose={() => setAlerting(false)} />
      )}
    </>
  );
}

function Item({ notice, isNew, onLeave }: { notice: Notice; isNew: boolean; onLeave: () => void }) {
  const page = pageOf(notice.kind);
  return (
    <li className={classes.notice}>
      <p className={classes.head}>
        <strong>{withShownAmounts(notice.title)}</strong>
        {isNew && (
          <Badge tone="accent" shape="●">
            {t("New")}
          </Badge>
        )}
      </p>
      <p className={classes.time}>
        <TimeText milliseconds={notice.createdAt} />
      </p>
      <p className={classes.text}>{withShownAmounts(notice.text)}</p>
      {page && (
        <PageLink href={page.path} onClick={onLeave}>
          {t(page.title)}
        </PageLink>
      )}
    </li>
  );
}
