import { Button } from "@mantine/core";
import { type ComponentProps, memo } from "react";
import { Link } from "wouter";
import { EmptyState } from "#lib/components/states.tsx";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useSession } from "../api/session.ts";
import { Loading } from "../parts/Loading.tsx";
import classes from "./OrdersPanel.module.css";

const OrderTabs = late(() => import("./OrderTabs.tsx"), {
  waiting: () => <Loading what={t("your orders")} />,
});

/** The user's orders, fills and balances; for a visitor the way to the login. */
export const OrdersPanel = memo(function OrdersPanel(lists: ComponentProps<typeof OrderTabs>) {
  const { symbol } = lists;
  const { session } = useSession();
  return (
    <section className={classes.panel} aria-label={t("Your orders")}>
      {session === null ? (
        <EmptyState
          title={t("Log in to see your orders")}
          action={
            <Button component={Link} href={`/login?next=/${symbol}`} variant="default">
              {t("Log in")}
            </Button>
          }
        >
          {t("Open orders, fills and balances of your account appear here, live.")}
        </EmptyState>
      ) : (
        <OrderTabs {...lists} />
      )}
    </section>
  );
});
