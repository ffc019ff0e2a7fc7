import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { floorTo, scaledText } from "#lib/scaled.ts";
import { attemptKey, returned, type SubscriptionClient } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { explainIfAny } from "../api/messages.ts";
import { type Plan, priceOf, type Subscription, upgradeCost } from "./plans.ts";
import { SUBSCRIPTION } from "./subscriptionQueries.ts";

const CENT = 10n ** 16n;

/** A price in whole cents, rounded half up. */
export function Price({ value, asset }: { value: bigint; asset: string }) {
  return <Amount value={scaledText(floorTo(value + CENT / 2n, CENT))} unit={asset} places={2} />;
}

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: SUBSCRIPTION });
}

/**
 * The header of a request with a key that stays for all tries, so that it is carried out once. A refusal is final under
 * its key: the next try, with more funds perhaps, is a new one.
 */
function useAttempt() {
  const [key, setKey] = useState(attemptKey);
  const onError = (error: Error) => {
    if (error instanceof RefusedError && error.status < 500) setKey(attemptKey());
  };
  return { params: { header: { "Idempotency-Key": key } }, onError };
}

interface DialogProps {
  service: SubscriptionClient;
  plan: Plan;
  discount: number;
  onClose: () => void;
}

/** Subscribes to a plan and pays its first period. */
export function SubscribeDialog({
  service,
  plan,
  asset,
  discount,
  onClose,
}: DialogProps & { asset: string }) {
  const refresh = useRefresh();
  const { params, onError } = useAttempt();
  const subscribe = useMutation({
    mutationFn: () => returned(service.POST("/api/subscribe", { params, body: { planId: plan.id, asset } })),
    onSuccess: () => {
      toastDone(t("You have {name}", { name: plan.name }), t("Its limits are yours from now on."));
      onClose();
    },
    onError,
    onSettled: refresh,
  });
  const price = priceOf(plan, asset, discount);
  return (
    <ConfirmDialog
      title={t("Subscribe to {name}?", { name: plan.name })}
      operator=""
      confirm={t("Subscribe and pay")}
      isBusy={subscribe.isPending}
      problem={explainIfAny(subscribe.error)}
      onConfirm={() => subscribe.mutate()}
      onClose={onClose}
    >
      <p>
        {rich(
          "You pay {price} now for the first period, and for each that follows until you cancel. It is taken from the {asset} balance of your spot account.",
          { price: price !== null && <Price value={price} asset={asset} />, asset },
        )}
      </p>
    </ConfirmDialog>
  );
}

/** Changes to a higher plan; shows the credit for the rest of the paid period first. */
export function UpgradeDialog({
  service,
  plan,
  current,
  subscription,
  discount,
  onClose,
}: DialogProps & { current: string; subscription: Subscription }) {
  const refresh = useRefresh();
  const { params, onError } = useAttempt();
  const [now] = useState(Date.now);
  const upgrade = useMutation({
    mutationFn: () => returned(service.POST("/api/upgrade", { params, body: { planId: plan.id } })),
    onSuccess: () => {
      toastDone(t("You have {name}", { name: plan.name }), t("A new period begins today."));
      onClose();
    },
    onError,
    onSettled: refresh,
  });
  const cost = upgradeCost(subscription, plan, discount, now);
  const { asset } = subscription;
  return (
    <ConfirmDialog
      title={t("Upgrade to {name}?", { name: plan.name })}
      operator=""
      confirm={t("Upgrade and pay")}
      missing={[
        cost === null && t("ask the operator: {asset} does not pay for {name}", { asset, name: plan.name }),
      ]}
      comparisons={[
        { name: t("Plan"), before: current, after: plan.name },
        ...(cost === null
          ? []
          : [
              {
                name: t("Price of a period"),
                before: <Amount value={subscription.price} unit={asset} places={2} />,
                after: <Price value={cost.price} asset={asset} />,
              },
              { name: t("Credit, about"), before: "", after: <Price value={cost.credit} asset={asset} /> },
              { name: t("To pay now, about"), before: "", after: <Price value={cost.due} asset={asset} /> },
              ...(cost.kept > 0n
                ? [
                    {
                      name: t("Credit kept, about"),
                      before: "",
                      after: <Price value={cost.kept} asset={asset} />,
                    },
                  ]
                : []),
            ]),
      ]}
      isBusy={upgrade.isPending}
      problem={explainIfAny(upgrade.error)}
      onConfirm={() => upgrade.mutate()}
      onClose={onClose}
    >
      <p>
        {rich(
          "A new period begins today. What is left of the paid one is credited against its price, and the rest is taken from the {asset} balance of your spot account.",
          { asset },
        )}
      </p>
      {subscription.cancelAtPeriodEnd && <p>{t("The upgrade withdraws your cancellation.")}</p>}
    </ConfirmDialog>
  );
}

/** Ends the subscription with its paid period. */
export function CancelDialog({
  service,
  name,
  periodEnd,
  onClose,
}: {
  service: SubscriptionClient;
  name: string;
  periodEnd: string;
  onClose: () => void;
}) {
  const refresh = useRefresh();
  const { params, onError } = useAttempt();
  const cancel = useMutation({
    mutationFn: () => returned(service.POST("/api/cancel", { params })),
    onSuccess: ({ accessUntil }) => {
      toastDone(
        t("{name} is cancelled", { name }),
        accessUntil === null ? undefined : t("It lasts until {accessUntil}.", { accessUntil }),
      );
      onClose();
    },
    onError,
    onSettled: refresh,
  });
  return (
    <ConfirmDialog
      title={t("Cancel {name}?", { name })}
      operator=""
      confirm={t("Cancel the subscription")}
      dismiss={t("Keep it")}
      danger
      isBusy={cancel.isPending}
      problem={explainIfAny(cancel.error)}
      onConfirm={() => cancel.mutate()}
      onClose={onClose}
    >
      <p>
        {rich("It lasts until {periodEnd} (UTC), which is paid, and is not charged again.", { periodEnd })}
      </p>
    </ConfirmDialog>
  );
}
