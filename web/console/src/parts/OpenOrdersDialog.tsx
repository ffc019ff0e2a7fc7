import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type Edge, returned } from "../operator/client.ts";
import { BulkDialog, type BulkRequest } from "./BulkDialog.tsx";

function cancelOrders({ rest }: Edge, { ids, dryRun, reason, key }: BulkRequest, symbol: string) {
  const body = { userIds: [...ids], dryRun, reason, ...(symbol === "" ? {} : { symbol }) };
  // A dry run repeats nothing: its reply must not be kept under the key.
  const params = dryRun ? {} : { header: { "Idempotency-Key": key } };
  return returned(rest.POST("/api/v1/operator/bulk/cancel-orders", { params, body }));
}

interface Props {
  ids: readonly string[];
  nameOf?: (id: string) => string;
  onClose: () => void;
  children?: ReactNode;
}

/** Cancel the open orders of several users, on one market or on all. */
export function OpenOrdersDialog({ ids, nameOf, onClose, children }: Props) {
  const [symbol, setSymbol] = useState("");
  const market = symbol.trim().toUpperCase();
  return (
    <BulkDialog
      title="Cancel the open orders?"
      noun="user"
      ids={ids}
      {...(nameOf && { nameOf })}
      confirm="Cancel the open orders"
      danger
      basis={market}
      act={(edge, request) => cancelOrders(edge, request, market)}
      onClose={onClose}
    >
      {children}
      <p>Open orders of the spot accounts are cancelled; those of margin accounts stay.</p>
      <TextInput
        label="Market"
        description="Leave it empty for all markets."
        placeholder="BTC-USD"
        value={symbol}
        maxLength={32}
        onChange={(event) => setSymbol(event.currentTarget.value)}
      />
    </BulkDialog>
  );
}
