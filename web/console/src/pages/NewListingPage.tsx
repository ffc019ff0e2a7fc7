import {
  Button,
  NativeSelect,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import { CheckCircleFillIcon, XCircleFillIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explain } from "../engine/messages.ts";
import {
  draftOf,
  EMPTY_DRAFT,
  type ListingDraft,
  type MarketStatus,
  newListing,
  REASON_LENGTH_MIN,
  type RuleCheck,
  STATUSES,
  typingFaults,
  useListingChecks,
  useListings,
  useNewListing,
} from "../operator/listings.ts";
import { EMPTY_NETWORK, type NetworkDraft, networkFaults } from "../operator/networks.ts";
import { NetworkFields } from "../parts/NetworkFields.tsx";
import classes from "./forms.module.css";

const FIRST: readonly MarketStatus[] = ["announced", "post-only", "auction", "open"];
type TextField = Exclude<keyof ListingDraft, "isNewAsset" | "status">;

/** List a market, or with `?symbol=` the symbol that was created alone. */
export function NewListingPage() {
  const symbol = useUrlState().parameter("symbol");
  const query = useListings();
  if (symbol === "") return <ListingForm first={EMPTY_DRAFT} />;
  if (query.error) return <ProblemNote problem={explain(query.error)} />;
  const known = query.data?.find((market) => market.symbol === symbol && market.terms === null);
  if (!query.data) return null;
  return <ListingForm key={symbol} first={known ? draftOf(known) : EMPTY_DRAFT} />;
}

/** The fields with the rules that the engine asks, each shown before anything is sent. */
function ListingForm({ first }: { first: ListingDraft }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(first);
  const [networks, setNetworks] = useState<readonly NetworkDraft[]>([]);
  const set = (change: Partial<ListingDraft>) => setDraft((before) => ({ ...before, ...change }));
  const body = newListing(draft);
  const checks = useListingChecks(body);
  const list = useNewListing(networks, (broken) => {
    const symbol = `${draft.base}-${draft.quote}`;
    toastDone(`${symbol} is listed`, broken ?? "Every service knows it within a second.");
    navigate(broken === null ? "/listings" : `/listings/${symbol}`);
  });
  const typing = typingFaults(draft);
  const known = body === null ? [] : (checks.data ?? []);
  const hasReason = draft.reason.trim().length >= REASON_LENGTH_MIN;
  const isChecked = body !== null && checks.isSuccess && !checks.isFetching && !checks.isPlaceholderData;
  const lacking = draft.isNewAsset ? networks.flatMap(networkFaults) : [];
  const isSound = isChecked && lacking.length === 0 && known.every(({ fault }) => fault === "") && hasReason;
  const errorOf = (field: TextField, name: string = field) =>
    typing[field] ?? known.find((check) => check.field === name && check.fault !== "")?.fault;
  const text = (field: TextField, label: string, description: string, name?: string) => (
    <TextInput
      label={label}
      description={description}
      value={draft[field]}
      error={errorOf(field, name)}
      onChange={({ currentTarget }) => set({ [field]: currentTarget.value })}
    />
  );
  const capitals = (field: "base" | "quote", label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      withAsterisk
      maxLength={10}
      value={draft[field]}
      error={field === "base" ? errorOf("base", "symbol") : undefined}
      onChange={({ currentTarget }) => set({ [field]: currentTarget.value.trim().toUpperCase() })}
    />
  );
  const decimal = (field: TextField, label: string, description: string) => (
    <DecimalField
      label={label}
      description={description}
      withAsterisk
      value={draft[field]}
      error={errorOf(field)}
      onValue={(value) => set({ [field]: value.trim() })}
    />
  );
  const time = (field: TextField, label: string) => (
    <TextInput
      type="datetime-local"
      label={label}
      description="In UTC. Empty: not by itself."
      value={draft[field]}
      onChange={({ currentTarget }) => set({ [field]: currentTarget.value })}
    />
  );
  return (
    <>
      <PageHeader title="List a market">
        A market and, if it is new, its coin. Tick and lot cannot be changed later; everything else can.
      </PageHeader>
      <form
        className={classes.columns}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isSound && !list.isPending) list.mutate(body);
        }}
      >
        <Stack gap="md">
          <Card title="Assets">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              {capitals("base", "Base asset", "What is traded, for example DOGE.")}
              {capitals("quote", "Quote asset", "What it is paid with.")}
            </SimpleGrid>
            <Switch
              mt="md"
              label="The base asset is new"
              checked={draft.isNewAsset}
              onChange={({ currentTarget }) => set({ isNewAsset: currentTarget.checked })}
            />
            {draft.isNewAsset && (
              <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md" mt="md">
                {text("assetName", "Name", "For example Dogecoin.", "asset.name")}
                {text("assetPlaces", "Decimal places", "Of deposits and withdrawals.", "asset.places")}
                {text(
                  "logo",
                  "Logo",
                  "Such as doge, for coins/doge.svg or .png in the folder of the brand. Empty: none.",
                  "asset.logo",
                )}
              </SimpleGrid>
            )}
          </Card>
          {draft.isNewAsset && (
            <Card title="Networks">
              <Stack gap="md">
                <p className={classes.hint}>
                  Over which networks the coin comes and goes. Without one nobody can deposit it; they can be
                  added later.
                </p>
                {networks.map((network, number) => (
                  <fieldset key={number} className={classes.network}>
                    <legend>Network {number + 1}</legend>
                    <NetworkFields
                      asset={draft.base === "" ? "the coin" : draft.base}
                      draft={network}
                      onChange={(change) =>
                        setNetworks((before) =>
                          before.map((each, at) => (at === number ? { ...each, ...change } : each)),
                        )
                      }
                    />
                  </fieldset>
                ))}
                <div className={classes.buttons}>
                  {networks.length > 0 && (
                    <Button variant="default" onClick={() => setNetworks((before) => before.slice(0, -1))}>
                      Leave the last one out
                    </Button>
                  )}
                  <Button
                    variant="default"
                    onClick={() => setNetworks((before) => [...before, EMPTY_NETWORK])}
                  >
                    Add a network
                  </Button>
                </div>
              </Stack>
            </Card>
          )}
          <Card title="Steps and fees">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              {decimal("tickSize", "Tick size", "Prices are whole multiples of it.")}
              {decimal("lotSize", "Lot size", "Quantities are whole multiples of it.")}
              {text("takerFee", "Taker fee", "In basis points: 20 is 0.20 %.")}
              {text("makerFee", "Maker fee", "Negative is a rebate.")}
            </SimpleGrid>
          </Card>
          <Card title="Bounds and bands">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              {decimal("quantityMin", "Least quantity", "Of an order, in the base asset.")}
              {decimal("quantityMax", "Largest quantity", "Of an order, in the base asset.")}
              {decimal("notionalMin", "Least notional", "Price times quantity, in the quote asset.")}
              {decimal("notionalMax", "Largest notional", "Price times quantity, in the quote asset.")}
              {text(
                "deviationBpsMax",
                "Deviation",
                "How far a limit price may be from the reference, in basis points.",
              )}
              {text("slippageBpsMax", "Slippage", "The most that a market order may slip, in basis points.")}
            </SimpleGrid>
          </Card>
          <Card title="What traders read">
            <Stack gap="md">
              {text("name", "Name of the market", "Beside the symbol. Empty: none.")}
              <Textarea
                label="Announcement"
                description="Shown on the market's page."
                autosize
                value={draft.announcement}
                error={errorOf("announcement")}
                onChange={({ currentTarget }) => set({ announcement: currentTarget.value })}
              />
            </Stack>
          </Card>
          <Card title="Status and times">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <NativeSelect
                label="Begins as"
                data={FIRST.map((status) => ({ value: status, label: STATUSES[status].title }))}
                value={draft.status}
                description={STATUSES[draft.status].description}
                error={errorOf("status" as TextField)}
                onChange={({ currentTarget }) =>
                  set({ status: FIRST.find((status) => status === currentTarget.value) ?? "announced" })
                }
              />
              {time("postOnlyAt", "Post-only from")}
              {time("auctionAt", "Auction from")}
              {time("openAt", "Open from")}
            </SimpleGrid>
          </Card>
          <Card title="Reason">
            <Textarea
              label="Why"
              description="It is kept with the market's history and in the audit trail."
              withAsterisk
              autosize
              maxLength={500}
              value={draft.reason}
              onChange={({ currentTarget }) => set({ reason: currentTarget.value })}
            />
          </Card>
        </Stack>
        <Stack gap="md">
          <Card title="Checks">
            {body === null ? (
              <p className={classes.hint}>
                Fill the fields with a star: the engine then says which rules hold.
              </p>
            ) : (
              <ul className={classes.checks}>
                {sorted(known).map((check) => (
                  <Check key={`${check.field} ${check.rule}`} check={check} />
                ))}
                {lacking.map((fault) => (
                  <Check
                    key={fault}
                    check={{ field: "networks", rule: "every network is complete", fault }}
                  />
                ))}
                <Check
                  check={{
                    field: "reason",
                    rule: "a reason is given",
                    fault: hasReason ? "" : "give a reason",
                  }}
                />
              </ul>
            )}
          </Card>
          {checks.error && body !== null && <ProblemNote problem={explain(checks.error)} />}
          {list.error && <ProblemNote problem={explain(list.error)} />}
          <div className={classes.buttons}>
            <Button component={Link} href="/listings" variant="default">
              Cancel
            </Button>
            <Button
              type="submit"
              loading={list.isPending}
              disabled={!isSound}
              title={isSound ? undefined : "All checks must hold first."}
            >
              List the market
            </Button>
          </div>
        </Stack>
      </form>
    </>
  );
}

/** The broken rules first, because the list is long. */
function sorted(checks: readonly RuleCheck[]): RuleCheck[] {
  return [...checks.filter(({ fault }) => fault !== ""), ...checks.filter(({ fault }) => fault === "")];
}

/** The fields of a listing in the words of this page. */
const TITLES: Record<string, string> = {
  symbol: "Assets",
  "asset.currency": "Base asset",
  "asset.name": "Name",
  "asset.places": "Decimal places",
  "asset.logo": "Logo",
  tickSize: "Tick size",
  lotSize: "Lot size",
  takerFee: "Taker fee",
  makerFee: "Maker fee",
  quantityMin: "Least quantity",
  quantityMax: "Largest quantity",
  notionalMin: "Least notional",
  notionalMax: "Largest notional",
  deviationBpsMax: "Deviation",
  slippageBpsMax: "Slippage",
  name: "Name of the market",
  announcement: "Announcement",
  status: "Begins as",
  schedule: "Times",
  networks: "Networks",
  reason: "Why",
};

function Check({ check: { field, rule, fault } }: { check: RuleCheck }) {
  const icon = fault ? <XCircleFillIcon /> : <CheckCircleFillIcon />;
  return (
    <li data-outcome={fault ? "broken" : "kept"}>
      <span>
        <span aria-hidden>{icon}</span>
        <VisuallyHidden>{fault ? "Broken" : "Holds"}:</VisuallyHidden>
      </span>
      <div>
        <p>
          {TITLES[field] ?? field}: {rule}
        </p>
        {fault && <p className={classes.fault}>{fault}</p>}
      </div>
    </li>
  );
}
