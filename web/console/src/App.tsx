import { Redirect, Route, Router, Switch } from "wouter";
import { useSession } from "./engine/session.ts";
import { useUserSession } from "./operator/session.ts";
import { Frame } from "./frame/Frame.tsx";
import { AccessPage } from "./pages/AccessPage.tsx";
import { AdjustmentsPage } from "./pages/AdjustmentsPage.tsx";
import { AlertsPage } from "./pages/AlertsPage.tsx";
import { AllOrdersPage } from "./pages/AllOrdersPage.tsx";
import { AllTradesPage } from "./pages/AllTradesPage.tsx";
import { AllWithdrawalsPage } from "./pages/AllWithdrawalsPage.tsx";
import { BalancesPage } from "./pages/BalancesPage.tsx";
import { CurrenciesPage } from "./pages/CurrenciesPage.tsx";
import { DashboardPage } from "./pages/DashboardPage.tsx";
import { DepositsPage } from "./pages/DepositsPage.tsx";
import { HealthPage } from "./pages/HealthPage.tsx";
import { ListingPage } from "./pages/ListingPage.tsx";
import { ListingsPage } from "./pages/ListingsPage.tsx";
import { LoginPage } from "./pages/LoginPage.tsx";
import { NewListingPage } from "./pages/NewListingPage.tsx";
import { NewParticipantPage } from "./pages/NewParticipantPage.tsx";
import { NewSymbolPage } from "./pages/NewSymbolPage.tsx";
import { NotFoundPage } from "./pages/NotFoundPage.tsx";
import { OperatorsPage } from "./pages/OperatorsPage.tsx";
import { OrdersPage } from "./pages/OrdersPage.tsx";
import { ParticipantPage } from "./pages/ParticipantPage.tsx";
import { ParticipantsPage } from "./pages/ParticipantsPage.tsx";
import { PaymentsPage } from "./pages/PaymentsPage.tsx";
import { ReportsPage } from "./pages/ReportsPage.tsx";
import { PlansPage } from "./pages/PlansPage.tsx";
import { RequestsPage } from "./pages/RequestsPage.tsx";
import { RiskPage } from "./pages/RiskPage.tsx";
import { SymbolsPage } from "./pages/SymbolsPage.tsx";
import { TrailPage } from "./pages/TrailPage.tsx";
import { TradesPage } from "./pages/TradesPage.tsx";
import { TreasuryPage } from "./pages/TreasuryPage.tsx";
import { UserPage } from "./pages/UserPage.tsx";
import { UsersPage } from "./pages/UsersPage.tsx";
import { VerificationsPage } from "./pages/VerificationsPage.tsx";
import { WithdrawalsPage } from "./pages/WithdrawalsPage.tsx";

/**
 * Without a session every address shows the login; the address stays, and opens after it. With one of the two sessions
 * that a tab may have, /login begins the other.
 */
export function App() {
  const { session } = useSession();
  const user = useUserSession().session;
  const lacksOne = session === null || user === null;
  return (
    <Router base="/console">
      <Switch>
        {lacksOne && <Route path="/login" component={LoginPage} />}
        <Route>{session !== null || user !== null ? <Pages /> : <LoginPage />}</Route>
      </Switch>
    </Router>
  );
}

function Pages() {
  return (
    <Frame>
      <Switch>
        <Route path="/" component={DashboardPage} />
        <Route path="/orders" component={OrdersPage} />
        <Route path="/trades" component={TradesPage} />
        <Route path="/participants" component={ParticipantsPage} />
        <Route path="/participants/new" component={NewParticipantPage} />
        <Route path="/participants/:participantId">
          {({ participantId }) => <ParticipantPage key={participantId} participantId={participantId} />}
        </Route>
        <Route path="/users" component={UsersPage} />
        <Route path="/users/:userId">{({ userId }) => <UserPage key={userId} userId={userId} />}</Route>
        <Route path="/verifications" component={VerificationsPage} />
        <Route path="/approvals" component={RequestsPage} />
        <Route path="/all-orders" component={AllOrdersPage} />
        <Route path="/all-trades" component={AllTradesPage} />
        <Route path="/adjustments" component={AdjustmentsPage} />
        <Route path="/treasury" component={TreasuryPage} />
        <Route path="/deposits" component={DepositsPage} />
        <Route path="/all-withdrawals" component={AllWithdrawalsPage} />
        <Route path="/payments" component={PaymentsPage} />
        <Route path="/plans" component={PlansPage} />
        <Route path="/balances" component={BalancesPage} />
        <Route path="/risk" component={RiskPage} />
        <Route path="/listings" component={ListingsPage} />
        <Route path="/listings/new" component={NewListingPage} />
        <Route path="/listings/:symbol">{({ symbol }) => <ListingPage key={symbol} symbol={symbol} />}</Route>
        <Route path="/symbols" component={SymbolsPage} />
        <Route path="/symbols/new" component={NewSymbolPage} />
        <Route path="/currencies" component={CurrenciesPage} />
        <Route path="/withdrawals" component={WithdrawalsPage} />
        <Route path="/reports" component={ReportsPage} />
        <Route path="/health" component={HealthPage} />
        <Route path="/alerts" component={AlertsPage} />
        <Route path="/operators" component={OperatorsPage} />
        <Route path="/trail" component={TrailPage} />
        <Route path="/access" component={AccessPage} />
        <Route path="/login">
          <Redirect to="/" replace />
        </Route>
        <Route component={NotFoundPage} />
      </Switch>
    </Frame>
  );
}
