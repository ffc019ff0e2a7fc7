import { Component, type ReactNode } from "react";
import { t } from "../language.ts";
import { ErrorState } from "./states.tsx";

interface PageBoundaryProps {
  /** The address of the page: another page gets another try. */
  location: string;
  children: ReactNode;
}

interface PageBoundaryState {
  location: string;
  failure: { error: unknown } | null;
}

/** Around a page: if it fails, or cannot be loaded after an upgrade, it says so, and the way to other pages stays. */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override state: PageBoundaryState = { location: this.props.location, failure: null };

  static getDerivedStateFromError(error: unknown): Partial<PageBoundaryState> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps(
    { location }: PageBoundaryProps,
    before: PageBoundaryState,
  ): PageBoundaryState | null {
    return location === before.location ? null : { location, failure: null };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    const problem = {
      title: t("The page failed"),
      detail: failure.error instanceof Error ? failure.error.message : String(failure.error),
      advice: t("Reload the page. If it happens again, report it with this message."),
    };
    return <ErrorState problem={problem} onRetry={() => window.location.reload()} />;
  }
}
