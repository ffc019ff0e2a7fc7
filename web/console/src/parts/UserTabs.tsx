import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { Card } from "#lib/components/Card.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { NO_DAYS } from "./DayFilters.tsx";
import { RequestsTable } from "./RequestsTable.tsx";
import { useUserDays } from "./userDays.tsx";
import { type UserAccounts, UserBalances, UserMovements, UserOrders, UserTrades } from "./UserLists.tsx";
import { UserDeposits, UserPayments, UserWithdrawals } from "./UserMoney.tsx";

/** A tab of a user's page. The address has its name. */
export interface UserTab {
  name: string;
  title: string;
  content: ReactNode;
}

/** What a user has and moved. It stays when the account is closed. */
export const moneyTabs = (user: UserAccounts): readonly UserTab[] => {
  const { userId } = user;
  return [
    { name: "balances", title: "Balances", content: <UserBalances userId={userId} /> },
    { name: "orders", title: "Orders", content: <UserOrders user={user} /> },
    { name: "trades", title: "Trades", content: <UserTrades user={user} /> },
    { name: "movements", title: "Movements", content: <UserMovements user={user} /> },
    { name: "deposits", title: "Deposits", content: <UserDeposits userId={userId} /> },
    { name: "withdrawals", title: "Withdrawals", content: <UserWithdrawals userId={userId} /> },
    { name: "payments", title: "Payments", content: <UserPayments userId={userId} /> },
  ];
};

function UserRequests({ userId }: { userId: string }) {
  const { span, toolbar } = useUserDays(userId, {
    list: "requests",
    needs: "users.export",
    ofEverybody: true,
  });
  return <RequestsTable filter={{ userId, ...span }} toolbar={toolbar} />;
}

/** What operators asked for. It stays, too. */
export const requestsTab = (userId: string): UserTab => ({
  name: "requests",
  title: "Requests",
  content: <UserRequests userId={userId} />,
});

/** The tabs of a user's page: the one that the address names, or else the first, is open. */
export function UserTabs({ tabs }: { tabs: readonly UserTab[] }) {
  const url = useUrlState();
  const open = tabs.find(({ name }) => name === url.parameter("tab")) ?? tabs[0];
  return (
    <Tabs
      mt="md"
      value={open?.name ?? null}
      keepMounted={false}
      onChange={(next) => url.change({ tab: next, ...NO_DAYS, account: null })}
    >
      <Tabs.List mb="sm">
        {tabs.map(({ name, title }) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Card flush>{open?.content}</Card>
    </Tabs>
  );
}
