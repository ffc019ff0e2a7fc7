import { Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { inSentence, t, texts } from "#lib/language.ts";
import { DeviceNotifications } from "../../account/DeviceNotifications.tsx";
import { tellFailure } from "../../account/failures.ts";
import { NOTIFICATIONS, useNotificationSettings } from "../../account/queries.ts";
import { returned, type Schemas, useExchange } from "../../api/client.ts";
import { explainIfAny } from "../../api/messages.ts";
import classes from "./NotificationsPage.module.css";

type Preference = Schemas["NotificationPreferenceResponse"];
type Event = Schemas["NotificationEvent"];
type Channel = "email" | "websocket" | "push";

interface Change {
  event: Event;
  channel: Channel;
  isOn: boolean;
}

const EVENTS: Readonly<Record<Event, readonly [title: string, text: string]>> = texts({
  order_filled: [
    "Order filled",
    "An order of yours has traded as a whole or in part, or has fired and ended without a trade. Mailed once a minute at most.",
  ],
  order_refused: ["Order refused", "A check has refused an order of yours. Mailed once a minute at most."],
  order_cancelled_by_timer: [
    "Orders cancelled by timer",
    "Your timer to cancel all orders ran out without a renewal.",
  ],
  order_list_not_armed: [
    "Position without its exits",
    "The exits of an order list could not be placed with what its entry filled.",
  ],
  balance_adjusted: ["Balance adjusted", "The exchange has added to your balance or taken from it."],
  deposit_credited: ["Deposit credited", "Funds have arrived and can be used."],
  withdrawal_completed: ["Withdrawal completed", "Funds have left for their address."],
  withdrawal_failed: ["Withdrawal not carried out", "Its funds are in your account again."],
  payment_completed: ["Payment completed", "A payment by card or bank has come."],
  conversion_completed: ["Conversion completed", "A conversion has been booked."],
  staking_payout: ["Staking payout", "A stake or its reward has been paid out."],
  subscription_charged: ["Plan charged", "A plan was paid, or credit of it came back."],
  subscription_failed: ["Plan not charged", "Funds were missing. The charge is tried again."],
  new_login: ["New login", "Somebody has logged in from a network that you have not used before."],
  password_changed: ["Password changed", "Your password is another one."],
  mfa_changed: ["Two-factor authentication changed", "It was switched on or off."],
  api_key_changed: ["API key changed", "A key was made, given a new secret or revoked."],
  withdrawal_address_changed: [
    "Withdrawal address changed",
    "An address for withdrawals was saved or deleted.",
  ],
  withdrawal_requested: ["Withdrawal requested", "Funds are about to leave."],
  margin_warning: ["Margin at risk", "The level of your margin account has fallen. Time to act."],
  margin_liquidation: ["Margin liquidation", "Positions are closed because the margin is too low."],
  margin_position_closed: ["Margin position closed", "A liquidation closes this position."],
  price_alert: ["Price alert", "A price that one of your alerts waits for is reached."],
  verification_decided: ["Verification decided", "It was approved or rejected, or more is asked of you."],
});

const CHANNELS: readonly { channel: Channel; title: string }[] = [
  {
    channel: "email",
    get title() {
      return t("By mail");
    },
  },
  {
    channel: "websocket",
    get title() {
      return t("On the screen");
    },
  },
  {
    channel: "push",
    get title() {
      return t("On devices");
    },
  },
];

const SAVED: Readonly<Record<Channel, (title: string, isOn: boolean) => string>> = {
  email: (title, isOn) =>
    isOn ? t("{title} by mail is on.", { title }) : t("{title} by mail is off.", { title }),
  websocket: (title, isOn) =>
    isOn ? t("{title} on the screen is on.", { title }) : t("{title} on the screen is off.", { title }),
  push: (title, isOn) =>
    isOn ? t("{title} on devices is on.", { title }) : t("{title} on devices is off.", { title }),
};

const isEvent = (name: string): name is Event => name in EVENTS;
const titleOf = (event: string) => (isEvent(event) ? t(EVENTS[event][0]) : event);

function withChange(
  preferences: readonly Preference[] | undefined,
  { event, channel, isOn }: Change,
): Preference[] | undefined {
  return preferences?.map((one) => (one.event === event ? { ...one, [channel]: isOn } : one));
}

/** What the user wants to be told of, and how. Each switch is saved at once. */
export default function NotificationsPage() {
  const query = useNotificationSettings();
  const { rest } = useExchange();
  const client = useQueryClient();
  const save = useMutation({
    // Changes are sent one after the other, because each request holds all channels of its event.
    scope: { id: "notifications" },
    mutationFn: ({ event, channel, isOn }: Change) => {
      const known = client.getQueryData<Preference[]>(NOTIFICATIONS)?.find((one) => one.event === event);
      const { email = true, websocket = true, push = true } = known ?? {};
      const body = { email, websocket, push, [channel]: isOn };
      return returned(
        rest.PUT("/api/v1/settings/notifications/{event}", { params: { path: { event } }, body }),
      );
    },
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: NOTIFICATIONS });
      client.setQueryData<Preference[]>(NOTIFICATIONS, (preferences) => withChange(preferences, change));
    },
    onSuccess: (_, { event, channel, isOn }) => {
      toastDone(t("Saved"), SAVED[channel](titleOf(event), isOn));
    },
    onError: (error, change) => {
      client.setQueryData<Preference[]>(NOTIFICATIONS, (preferences) =>
        withChange(preferences, { ...change, isOn: !change.isOn }),
      );
      tellFailure(error);
    },
    onSettled: () => {
      // Only the last change reads the settings again. An earlier one would show old values of later changes.
      if (client.isMutating() === 1) void client.invalidateQueries({ queryKey: NOTIFICATIONS });
    },
  });
  const columns: Column<Preference>[] = [
    {
      id: "event",
      title: t("Event"),
      cell: ({ event }) => (
        <span className={classes.event}>
          <strong>{titleOf(event)}</strong>
          {isEvent(event) && <span className={classes.text}>{t(EVENTS[event][1])}</span>}
        </span>
      ),
    },
    ...CHANNELS.map(({ channel, title }) => ({
      id: channel,
      title,
      cell: (preference: Preference) => {
        const isFixed = channel === "email" && preference.emailIsRequired;
        return (
          <span className={classes.channel}>
            <Switch
              aria-label={`${titleOf(preference.event)}, ${inSentence(title)}`}
              checked={preference[channel]}
              disabled={isFixed}
              onChange={({ currentTarget: { checked: isOn } }) => {
                if (isEvent(preference.event)) save.mutate({ event: preference.event, channel, isOn });
              }}
            />
            {isFixed && <span className={classes.text}>{t("always on")}</span>}
          </span>
        );
      },
    })),
  ];
  return (
    <>
      <PageHeader title={t("Notifications")}>
        {t(
          "What you are told, by mail, on the screen and on devices. Mails about the security of your account are always sent: they tell you what a thief would do in it.",
        )}
      </PageHeader>
      <DeviceNotifications />
      <Card flush>
        <DataTable
          label={t("Notifications")}
          isWhole
          columns={columns}
          rows={query.data}
          rowId={({ event }) => event}
          rowName={({ event }) => titleOf(event)}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title={t("Nothing to choose")}>
              {t("This exchange sends no notifications.")}
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
