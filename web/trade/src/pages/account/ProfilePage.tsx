import { Button, Select, Skeleton, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState, ProblemNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { pageLocale, t } from "#lib/language.ts";
import { languageName } from "#lib/languageName.ts";
import { setZone } from "#lib/preferences.ts";
import { allZones, localZone } from "#lib/time.ts";
import { PROFILE } from "../../account/profile.ts";
import { ACTIVITY, useProfile } from "../../account/queries.ts";
import { returned, type Schemas, useExchange } from "../../api/client.ts";
import { explain } from "../../api/messages.ts";
import { PageLink } from "../../parts/PageLink.tsx";
import classes from "./ProfilePage.module.css";

type Profile = Schemas["ProfileResponse"];
type Fields = Record<"displayName" | "language" | "timeZone", string>;

const NAME_LENGTH_MAX = 64;
const NONE = "";
const LANGUAGES =
  "ar bg bn cs da de el en-GB en-US es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt pt-BR ro ru sk sl sr sv sw ta th tr uk ur vi zh-CN zh-TW".split(
    " ",
  );

/** How the user is called, and in which language and time zone. */
export default function ProfilePage() {
  const query = useProfile();
  return (
    <>
      <PageHeader title={t("Profile")}>{t("What the exchange knows you by. Only you see it.")}</PageHeader>
      {query.data ? (
        <div className={classes.cards}>
          <ProfileForm profile={query.data} />
          <Facts profile={query.data} />
        </div>
      ) : query.error ? (
        <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={280} role="progressbar" aria-label={t("Loading the profile")} />
      )}
    </>
  );
}

function ProfileForm({ profile }: { profile: Profile }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  // Only edited fields are sent, so that a save does not undo changes made elsewhere.
  const [edits, setEdits] = useState<Partial<Fields>>({});
  const edit = (change: Partial<Fields>) => setEdits((before) => ({ ...before, ...change }));
  const name = edits.displayName ?? profile.displayName ?? NONE;
  const language = edits.language ?? profile.language ?? NONE;
  const zone = edits.timeZone ?? profile.timeZone ?? NONE;
  const save = useMutation({
    mutationFn: (body: Schemas["ProfileBody"]) => returned(rest.PATCH("/api/v1/users/me/profile", { body })),
    onSuccess: (changed, body) => {
      // The time zone chosen in this browser would otherwise hide the new one.
      if ("timeZone" in body) setZone(null);
      client.setQueryData(PROFILE, changed);
      setEdits({});
      void client.invalidateQueries({ queryKey: ACTIVITY });
      toastDone(t("The profile is saved"));
    },
  });
  const languages = useMemo(() => {
    const tags = [...new Set([...LANGUAGES, ...(profile.language ? [profile.language] : [])])];
    const known = tags.map((tag) => ({ value: tag, label: languageName(tag, pageLocale()) }));
    return [
      { value: NONE, label: t("Not given") },
      ...known.sort((a, b) => a.label.localeCompare(b.label, pageLocale())),
    ];
  }, [profile.language]);
  const zones = useMemo(() => {
    const names = [...new Set([...allZones(), ...(profile.timeZone ? [profile.timeZone] : [])])];
    return [
      { value: NONE, label: t("That of each computer (here {localZone})", { localZone: localZone() }) },
      ...names.map((value) => ({ value, label: value })),
    ];
  }, [profile.timeZone]);
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
  const body: Schemas["ProfileBody"] = {
    ...(orNull(name) !== profile.displayName ? { displayName: orNull(name) } : {}),
    ...(orNull(language) !== profile.language ? { language: orNull(language) } : {}),
    ...(orNull(zone) !== profile.timeZone ? { timeZone: orNull(zone) } : {}),
  };
  const isChanged = Object.keys(body).length > 0;
  return (
    <Card title={t("About you")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged && !save.isPending) save.mutate(body);
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t("Display name")}
            description={t("A name of your choice, kept with your account.")}
            value={name}
            maxLength={NAME_LENGTH_MAX}
            autoComplete="nickname"
            onChange={(event) => edit({ displayName: event.currentTarget.value })}
          />
          <Select
            label={t("Language")}
            description={t(
              "Mails, notices and pages are in it if it is English, German, Spanish or Portuguese. Otherwise they are in English, and the pages as each browser asks.",
            )}
            searchable
            nothingFoundMessage={t("No language of that name")}
            data={languages}
            value={language}
            onChange={(value) => edit({ language: value ?? NONE })}
          />
          <Select
            label={t("Time zone")}
            description={t("All times of the pages are shown in it; the pointer shows UTC.")}
            searchable
            nothingFoundMessage={t("No zone of that name")}
            limit={60}
            data={zones}
            value={zone}
            onChange={(value) => edit({ timeZone: value ?? NONE })}
          />
          {save.error && <ProblemNote problem={explain(save.error)} />}
          <div className={classes.buttons}>
            <Button type="submit" loading={save.isPending} disabled={!isChanged}>
              {t("Save")}
            </Button>
            {!isChanged && <span className={classes.hint}>{t("Nothing has been changed.")}</span>}
          </div>
        </Stack>
      </form>
    </Card>
  );
}

function Facts({ profile }: { profile: Profile }) {
  return (
    <Card title={t("Your account")}>
      <dl className={classes.facts}>
        <div>
          <dt>{t("Email address")}</dt>
          <dd>
            {profile.email}{" "}
            {profile.emailVerified ? (
              <Badge tone="positive" shape="●">
                {t("Confirmed")}
              </Badge>
            ) : (
              <Badge tone="warning" shape="◐">
                {t("Not confirmed")}
              </Badge>
            )}
          </dd>
        </div>
        <div>
          <dt>{t("User id")}</dt>
          <dd>
            <CopyText text={profile.userId} name={t("user id")} />
          </dd>
        </div>
        <div>
          <dt>{t("Registered")}</dt>
          <dd>
            <TimeText milliseconds={Date.parse(profile.createdAt)} />
          </dd>
        </div>
        <div>
          <dt>{t("Password and two-factor authentication")}</dt>
          <dd>
            <PageLink href="/account/security">{t("Under security")}</PageLink>
          </dd>
        </div>
      </dl>
    </Card>
  );
}
