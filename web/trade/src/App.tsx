import { lazy, type ReactNode, Suspense } from "react";
import { Redirect, Route, Router, Switch, useLocation, useSearch } from "wouter";
import { PageBoundary } from "#lib/components/PageBoundary.tsx";
import { useSession } from "./api/session.ts";
import { Frame } from "./frame/Frame.tsx";
import { Loading } from "./parts/Loading.tsx";
import { keptSymbol } from "./market/preferences.ts";

const NoticedPage = lazy(() => import("./pages/NoticedPage.tsx"));
const TradePage = lazy(() => import("./pages/TradePage.tsx"));
const LoginPage = lazy(() => import("./pages/LoginPage.tsx"));
const RegisterPage = lazy(() => import("./pages/RegisterPage.tsx"));
const VerifyEmailPage = lazy(() => import("./pages/VerifyEmailPage.tsx"));
const ForgotPasswordPage = lazy(() => import("./pages/ForgotPasswordPage.tsx"));
const ResetPasswordPage = lazy(() => import("./pages/ResetPasswordPage.tsx"));
const WalletPage = lazy(() => import("./pages/WalletPage.tsx"));
const PortfolioPage = lazy(() => import("./pages/PortfolioPage.tsx"));
const StakingPage = lazy(() => import("./pages/StakingPage.tsx"));
const WithdrawalsPage = lazy(() => import("./pages/WithdrawalsPage.tsx"));
const HistoryPage = lazy(() => import("./pages/HistoryPage.tsx"));
const ConvertPage = lazy(() => import("./pages/ConvertPage.tsx"));
const AccountPages = lazy(() => import("./pages/account/AccountPages.tsx"));
const PositionsPage = lazy(() => import("./pages/PositionsPage.tsx"));
const MarginPage = lazy(() => import("./pages/MarginPage.tsx"));
const FeesPage = lazy(() => import("./pages/FeesPage.tsx"));
const ReservesPage = lazy(() => import("./pages/ReservesPage.tsx"));
const StatusPage = lazy(() => import("./pages/StatusPage.tsx"));
const MarketsPage = lazy(() => import("./pages/MarketsPage.tsx"));
const AlertsPage = lazy(() => import("./pages/AlertsPage.tsx"));
const NotFoundPage = lazy(() => import("./pages/NotFoundPage.tsx"));

const SYMBOL = /^\/(?<symbol>[A-Z0-9]{2,10}-[A-Z0-9]{2,10})\/?$/;

/** Each page is a file of its own that is loaded when it is opened; login and register need no chart. */
export function App() {
  return (
    <Router base="/trade">
      <Pages />
    </Router>
  );
}

function Pages() {
  const [location] = useLocation();
  return (
    <PageBoundary location={location}>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/login">
            <LoggedOut>
              <LoginPage />
            </LoggedOut>
          </Route>
          <Route path="/register">
            <LoggedOut>
              <RegisterPage />
            </LoggedOut>
          </Route>
          <Route path="/verify-email" component={VerifyEmailPage} />
          <Route path="/forgot-password" component={ForgotPasswordPage} />
          <Route path="/reset-password" component={ResetPasswordPage} />
          <Route>
            <Frame>
              <Suspense fallback={<Loading />}>
                <Switch>
                  <Route path="/">
                    <Start />
                  </Route>
                  <Route path="/wallet">
                    <Private>
                      <WalletPage />
                    </Private>
                  </Route>
                  <Route path="/portfolio">
                    <Private>
                      <PortfolioPage />
                    </Private>
                  </Route>
                  <Route path="/staking">
                    <Private>
                      <StakingPage />
                    </Private>
                  </Route>
                  <Route path="/withdrawals">
                    <Private>
                      <WithdrawalsPage />
                    </Private>
                  </Route>
                  <Route path="/history">
                    <Private>
                      <HistoryPage />
                    </Private>
                  </Route>
                  <Route path="/convert">
                    <Private>
                      <ConvertPage />
                    </Private>
                  </Route>
                  <Route path="/positions">
                    <Private>
                      <PositionsPage />
                    </Private>
                  </Route>
                  <Route path="/margin">
                    <Private>
                      <MarginPage />
                    </Private>
                  </Route>
                  <Route path="/alerts">
                    <Private>
                      <AlertsPage />
                    </Private>
                  </Route>
                  <Route path="/account/*?">
                    <Private>
                      <AccountPages />
                    </Private>
                  </Route>
                  <Route path="/markets" component={MarketsPage} />
                  <Route path="/fees" component={FeesPage} />
                  <Route path="/reserves" component={ReservesPage} />
                  <Route path="/status" component={StatusPage} />
                  <Route path={SYMBOL}>{({ symbol = "" }) => <TradePage symbol={symbol} />}</Route>
                  <Route component={NotFoundPage} />
                </Switch>
              </Suspense>
            </Frame>
          </Route>
        </Switch>
      </Suspense>
    </PageBoundary>
  );
}

/** Leads on: to the page of the notification that was clicked, or to the market that was looked at last. */
function Start() {
  const isOfNotice = new URLSearchParams(useSearch()).has("notice");
  return isOfNotice ? <NoticedPage /> : <Redirect to={`/${keptSymbol()}`} replace />;
}

/** A page for people without a session; with one it leads on. */
function LoggedOut({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const next = new URLSearchParams(window.location.search).get("next") ?? "";
  // An address of this page alone: "//elsewhere" would be another host's.
  return session ? <Redirect to={/^\/[A-Za-z0-9]/.test(next) ? next : "/"} replace /> : children;
}

/** A page that needs a session; without one it leads to the login and back. */
function Private({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const [location] = useLocation();
  const search = useSearch();
  const next = encodeURIComponent(search === "" ? location : `${location}?${search}`);
  return session ? children : <Redirect to={`/login?next=${next}`} replace />;
}
