import { Redirect, Route, Router, Switch } from "wouter";
import { useSession } from "./engine/session.ts";
import { Frame } from "./frame/Frame.tsx";
import { AccessPage } from "./pages/AccessPage.tsx";
import { BalancesPage } from "./pages/BalancesPage.tsx";
import { CurrenciesPage } from "./pages/CurrenciesPage.tsx";
import { DashboardPage } from "./pages/DashboardPage.tsx";
import { HealthPage } from "./pages/HealthPage.tsx";
import { LoginPage } from "./pages/LoginPage.tsx";
import { NewParticipantPage } from "./pages/NewParticipantPage.tsx";
import { NewSymbolPage } from "./pages/NewSymbolPage.tsx";
import { NotFoundPage } from "./pages/NotFoundPage.tsx";
import { OrdersPage } from "./pages/OrdersPage.tsx";
import { ParticipantPage } from "./pages/ParticipantPage.tsx";
import { ParticipantsPage } from "./pages/ParticipantsPage.tsx";
import { RiskPage } from "./pages/RiskPage.tsx";
import { SymbolsPage } from "./pages/SymbolsPage.tsx";
import { TradesPage } from "./pages/TradesPage.tsx";
import { WithdrawalsPage } from "./pages/WithdrawalsPage.tsx";

/** Without a session every address shows the login; the address stays, and opens after it. */
export function App() {
  const { session, ending } = useSession();
  return (
    <Router base="/console">
      {session ? (
        <Frame session={session}>
          <Switch>
            <Route path="/" component={DashboardPage} />
            <Route path="/orders" component={OrdersPage} />
            <Route path="/trades" component={TradesPage} />
            <Route path="/participants" component={ParticipantsPage} />
            <Route path="/participants/new" component={NewParticipantPage} />
            <Route path="/participants/:participantId">
              {({ participantId }) => <ParticipantPage key={participantId} participantId={participantId} />}
            </Route>
            <Route path="/balances" component={BalancesPage} />
            <Route path="/risk" component={RiskPage} />
            <Route path="/symbols" component={SymbolsPage} />
            <Route path="/symbols/new" component={NewSymbolPage} />
            <Route path="/currencies" component={CurrenciesPage} />
            <Route path="/withdrawals" component={WithdrawalsPage} />
            <Route path="/health" component={HealthPage} />
            <Route path="/access" component={AccessPage} />
            <Route path="/login">
              <Redirect to="/" replace />
            </Route>
            <Route component={NotFoundPage} />
          </Switch>
        </Frame>
      ) : (
        <LoginPage ending={ending} />
      )}
    </Router>
  );
}
