import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { returned, useExchange } from "../api/client.ts";
import type { Order } from "../api/orderKinds.ts";
import type { Trigger } from "../market/own.ts";
import { isFollowing } from "./amending.ts";

/** No event tells how a trigger moves. */
const READ_MS = 5_000;
/** The exchange takes so many ids at once. */
const ORDERS_MAX = 20;
const NONE: readonly Trigger[] = [];

/** Tells the chart what fires those orders now that follow the price: the newest of them. */
export default function Triggers({
  orders,
  onTriggers,
}: {
  orders: readonly Order[];
  onTriggers: (triggers: readonly Trigger[]) => void;
}) {
  const { rest } = useExchange();
  const followers = orders.filter(isFollowing).slice(0, ORDERS_MAX);
  const orderIds = followers.map(({ orderId }) => orderId).join(",");
  const { data = NONE } = useQuery({
    queryKey: ["orders", "triggers", orderIds],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/orders/triggers", { params: { query: { orderIds } }, signal })),
    enabled: orderIds !== "",
    placeholderData: keepPreviousData,
    refetchInterval: READ_MS,
  });
  useEffect(() => onTriggers(data), [data, onTriggers]);
  useEffect(() => () => onTriggers(NONE), [onTriggers]);
  return null;
}
