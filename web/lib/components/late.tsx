/**
 * Parts of a page that are loaded when they are first shown.
 *
 * Their files may be out of reach: there is no connection, or an upgrade has replaced them. The page stays then, and
 * says so where the part would be; the next try asks for the files again.
 */
import { Button } from "@mantine/core";
import { SyncIcon } from "@primer/octicons-react";
import {
  type ComponentType,
  createElement,
  lazy,
  type LazyExoticComponent,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
} from "react";
import { t } from "../language.ts";
import { createStore, useStore } from "../store.ts";
import classes from "./states.module.css";
import { toastFailed } from "./toasts.tsx";

interface Loaded<Props> {
  default: ComponentType<Props>;
}

interface Retry {
  onRetry: () => void;
}

/** A part that is loaded when it is first shown. */
export interface LatePart<Props> {
  (props: Props): ReactNode;
  /** Load it ahead, for who moves the focus into it. Never rejected: a failure shows when the part is shown. */
  loadAhead: () => Promise<unknown>;
}

interface LateOptions<Props> {
  /** What stands in its place while it is loaded. */
  waiting?: () => ReactNode;
  /** What stands in its place when it cannot be loaded. */
  Missing?: ComponentType<Props & Retry>;
}

/** A part that `load` loads. When it cannot be loaded, showing it once more, or `onRetry`, is another try. */
export function late<Props extends object>(
  load: () => Promise<Loaded<Props>>,
  { waiting, Missing = MissingPart }: LateOptions<Props> = {},
): LatePart<Props> {
  // React remembers for ever that a part failed, so each try is a part of its own.
  function attempt(): LazyExoticComponent<ComponentType<Props>> {
    const tried = lazy(() => load().catch(() => ({ default: Failed })));
    const tryAgain = () => {
      if (current.get() === tried) current.set(attempt());
    };
    function Failed(props: Props) {
      // What is closed and opened again is another try, too.
      useEffect(() => tryAgain, []);
      return <Missing {...props} onRetry={tryAgain} />;
    }
    return tried;
  }
  const current = createStore(attempt());
  function Part(props: Props) {
    return <Suspense fallback={waiting?.()}>{createElement(useStore(current), props)}</Suspense>;
  }
  return Object.assign(Part, { loadAhead: () => load().catch(() => undefined) });
}

const missing = () => t("This part of the page could not be loaded.");

/** Tell that a part could not be loaded, where there is no place for it. */
export const tellMissing = () => tellUnloaded(missing());

/** Tell that something could not be loaded, and what to do. */
export function tellUnloaded(what: string): void {
  toastFailed(
    what,
    t("See that you are online, then try again. After an upgrade of the exchange, reload the page."),
  );
}

/** In the place of a part: that it is missing, and the way to another try. */
function MissingPart({ onRetry }: Retry) {
  return (
    <div className={classes.missing} role="alert">
      <span>{missing()}</span>
      <Button size="compact-xs" variant="default" onClick={onRetry}>
        {t("Try again")}
      </Button>
    </div>
  );
}

/** In the place of a part that is as small as a sign. */
export function MissingSign({ onRetry }: Retry) {
  const title = `${missing()} ${t("Try again")}`;
  return (
    <Button size="compact-xs" variant="default" aria-label={title} title={title} onClick={onRetry}>
      <SyncIcon size={12} />
    </Button>
  );
}

/** For a dialog, or what has no place of its own: a message that stays. The dialog is closed again. */
export function MissingDialog({ onClose }: Retry & { onClose?: () => void }) {
  const isTold = useRef(false);
  useEffect(() => {
    if (isTold.current) return;
    isTold.current = true;
    tellMissing();
    onClose?.();
  }, [onClose]);
  return null;
}
