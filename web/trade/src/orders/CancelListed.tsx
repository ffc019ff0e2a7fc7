import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { t } from "#lib/language.ts";
import type { Order } from "../api/orderKinds.ts";
import { useCancelOrder } from "./cancelling.ts";
import { listName } from "./listName.ts";
import { orderName } from "./orderName.ts";
import { explainOrder } from "./refusals.ts";

/** The question before an order is cancelled that others depend on. */
export function CancelListed({ order, onClose }: { order: Order; onClose: () => void }) {
  const cancel = useCancelOrder(onClose);
  return (
    <ConfirmDialog
      title={t("Cancel {orderName}?", { orderName: orderName(order) })}
      operator=""
      confirm={t("Cancel the order")}
      dismiss={t("Keep it")}
      danger
      isBusy={cancel.isPending}
      problem={cancel.error ? explainOrder(cancel.error) : null}
      onConfirm={() => cancel.mutate(order)}
      onClose={onClose}
    >
      <p>{listName(order)}</p>
      <p>
        {order.listRole === "entry"
          ? t("Exits of what it has filled stay. The others end with it.")
          : t("The other orders of its list end with it.")}
      </p>
    </ConfirmDialog>
  );
}
