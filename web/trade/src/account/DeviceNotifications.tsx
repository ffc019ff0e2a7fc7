import { Switch } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone, toastFailed } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { programName } from "#lib/userAgent.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explainIfAny } from "../api/messages.ts";
import classes from "./DeviceNotifications.module.css";
import {
  deviceAbility,
  deviceSubscription,
  forgetDevice,
  permitNotifications,
  rememberDevice,
  subscribeDevice,
} from "./devices.ts";
import { tellFailure } from "./failures.ts";
import { DEVICES, PUSH_KEY, useDevices, usePushKey } from "./queries.ts";

type Device = Schemas["PushSubscription"];

const THIS_DEVICE = [...DEVICES, "this"] as const;

/** Notifications that this device shows while no page is open, and the user's other devices. */
export function DeviceNotifications() {
  const devices = useDevices();
  const key = usePushKey();
  const { rest } = useExchange();
  const client = useQueryClient();
  const own = useQuery({
    queryKey: THIS_DEVICE,
    queryFn: async () => (await deviceSubscription())?.endpoint ?? null,
    networkMode: "always",
  });
  const refresh = () => {
    void client.invalidateQueries({ queryKey: DEVICES });
    void client.invalidateQueries({ queryKey: PUSH_KEY });
  };
  const ability = deviceAbility();
  const publicKey = key.data?.publicKey ?? null;
  const thisOne = devices.data?.find(({ endpoint }) => endpoint === own.data);
  const remove = useMutation({
    mutationFn: async (device: Device) => {
      const { id: subscriptionId } = device;
      await returned(
        rest.DELETE("/api/v1/push-subscriptions/{subscriptionId}", { params: { path: { subscriptionId } } }),
      );
      if (device.endpoint === own.data) await forgetDevice();
    },
    onSuccess: () => toastDone(t("The device is not notified any more")),
    onError: tellFailure,
    onSettled: refresh,
  });
  const add = useMutation({
    mutationFn: async (applicationKey: string) => {
      if (!(await permitNotifications())) return false;
      const subscription = await subscribeDevice(applicationKey);
      const { endpoint, keys } = subscription.toJSON();
      const body = { endpoint: endpoint ?? "", keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" } };
      await returned(rest.POST("/api/v1/push-subscriptions", { body })).catch(async (error: unknown) => {
        // The exchange does not know it, so this browser must not count itself as notified.
        await subscription.unsubscribe().catch(() => false);
        throw error;
      });
      await rememberDevice(body, applicationKey);
      return true;
    },
    onSuccess: (isOn) => {
      if (isOn) toastDone(t("This device is notified"), t("Until you log out of this session."));
    },
    onError: (error) => {
      if (error instanceof DOMException)
        toastFailed(
          t("The browser did not subscribe"),
          t("Its push service does not respond, or it is a private window. Try again later."),
        );
      else tellFailure(error);
    },
    onSettled: refresh,
  });
  const test = useMutation({
    mutationFn: ({ id: subscriptionId }: Device) =>
      returned(
        rest.POST("/api/v1/push-subscriptions/{subscriptionId}/test", {
          params: { path: { subscriptionId } },
        }),
      ),
    onSuccess: () => toastDone(t("A test is on its way"), t("The device shows it within moments.")),
    onError: tellFailure,
  });
  const isKnown = devices.data !== undefined && own.data !== undefined && key.data !== undefined;
  const isOn = thisOne !== undefined && ability === "able";
  return (
    <Card flush title={t("On devices")}>
      <div className={classes.own}>
        <Switch
          label={t("Notify me on this device")}
          description={
            key.data && publicKey === null ? t("This exchange notifies no devices.") : said(ability)
          }
          checked={isOn}
          disabled={!isKnown || ability !== "able" || publicKey === null || add.isPending || remove.isPending}
          onChange={() => {
            if (thisOne) remove.mutate(thisOne);
            else if (publicKey !== null) add.mutate(publicKey);
          }}
        />
      </div>
      <DataTable
        label={t("Devices that are notified")}
        isWhole
        columns={COLUMNS}
        rows={devices.data}
        rowId={({ id }) => id}
        rowName={({ userAgent }) => userAgent || t("unknown")}
        actions={(device) => [
          { label: t("Send a test"), onClick: () => test.mutate(device) },
          { label: t("Remove the device"), danger: true, onClick: () => remove.mutate(device) },
        ]}
        state={devices}
        problem={explainIfAny(devices.error ?? key.error)}
        empty={
          <EmptyState title={t("No device is notified")}>
            {t("Switch it on above, on each device that shall show notifications.")}
          </EmptyState>
        }
      />
    </Card>
  );
}

function said(ability: ReturnType<typeof deviceAbility>): string {
  switch (ability) {
    case "able":
      return t(
        "Shown by the browser while no page is open, until you log out. The maker of your browser passes them on, and cannot read them.",
      );
    case "denied":
      return t(
        "The browser forbids it. Allow notifications of this site in its settings, then reload the page.",
      );
    case "needs-install":
      return t("Put this site on the home screen first (Share, Add to Home Screen), and open it from there.");
    case "unable":
      return t("This browser shows no notifications of sites.");
  }
}

const COLUMNS: Column<Device>[] = [
  {
    id: "device",
    get title() {
      return t("Device");
    },
    cell: ({ userAgent, current }) => (
      <span title={userAgent}>
        {current && (
          <Badge tone="accent" shape="●">
            {t("This one")}
          </Badge>
        )}{" "}
        {programName(userAgent)}
      </span>
    ),
  },
  {
    id: "since",
    get title() {
      return t("Since");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "reached",
    get title() {
      return t("Notified last");
    },
    cell: ({ reachedAt }) =>
      reachedAt === null ? t("never") : <TimeText milliseconds={Date.parse(reachedAt)} />,
  },
];
