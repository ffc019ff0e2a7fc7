import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { PageLink } from "../parts/PageLink.tsx";

/** An address that is no page. */
export default function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        title="There is no page at this address"
        action={<PageLink href="/">Go to the markets</PageLink>}
      >
        A market's address is /trade/BTC-USD, with capital letters.
      </EmptyState>
    </>
  );
}
