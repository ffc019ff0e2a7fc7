/** The addresses of the platform's services, and its brand, as the web server gives them in /config.json. */
import { type Brand, readBrand } from "./brand.ts";

export interface PageConfig {
  /** The matching engine's HTTP, which also serves AdminService. */
  engineUrl: string;
  /** The REST edge, without the prefix. */
  restUrl: string;
  /** The WebSocket edge. */
  wsUrl: string;
  /** The position service, without the prefix; null where it does not run. */
  positionsUrl: string | null;
  /** The subscription service, without the prefix; null where it does not run. */
  subscriptionsUrl: string | null;
  /** Whether the web server plays deposits, which it does on a computer of one's own alone. */
  simulatesDeposits: boolean;
  brand: Brand;
}

/** The configuration that `content` holds. Throws Error naming the field that is missing or no address. */
export function readPageConfig(content: unknown): PageConfig {
  if (typeof content !== "object" || content === null) throw new Error("config.json is not an object");
  const found = content as Record<string, unknown>;
  const address = (field: string): string => {
    const value = found[field];
    if (typeof value !== "string" || !URL.canParse(value)) {
      throw new Error(`config.json: ${field} must be an address`);
    }
    return value.replace(/\/+$/, "");
  };
  const addressIfAny = (field: string) => (found[field] === undefined ? null : address(field));
  return {
    engineUrl: address("engineUrl"),
    restUrl: address("restUrl"),
    wsUrl: address("wsUrl"),
    positionsUrl: addressIfAny("positionsUrl"),
    subscriptionsUrl: addressIfAny("subscriptionsUrl"),
    simulatesDeposits: found.simulatesDeposits === true,
    brand: readBrand(found.brand),
  };
}

/** Fetch the configuration. Throws Error with a reason that can be shown. */
export async function loadPageConfig(): Promise<PageConfig> {
  const response = await fetch("/config.json", { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`config.json: the web server returned ${response.status}`);
  return readPageConfig(await response.json());
}
