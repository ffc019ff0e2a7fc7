import { Button } from "@mantine/core";
import { Link } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" />
      <Card>
        <EmptyState
          title="The console has no page at this address"
          action={
            <Button component={Link} href="/" variant="default">
              Open the dashboard
            </Button>
          }
        >
          Check the address, or choose a page of the navigation.
        </EmptyState>
      </Card>
    </>
  );
}
