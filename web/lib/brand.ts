/** The name and look of the exchange, from /config.json. */
import { createStore, useStore } from "./store.ts";

export interface PageLink {
  title: string;
  url: string;
}

export interface Brand {
  name: string;
  /** Address of the logo; null: OpenSpot's own. */
  logo: string | null;
  /** Links of the operator, at the foot of the pages. */
  links: readonly PageLink[];
  /** Terms, privacy and what else the operator publishes. */
  legal: readonly PageLink[];
}

export const OPENSPOT: Brand = { name: "OpenSpot", logo: null, links: [], legal: [] };

const store = createStore(OPENSPOT);

export function setBrand(brand: Brand): void {
  store.set(brand);
}

export function useBrand(): Brand {
  return useStore(store);
}

/** The name of the exchange, for what is no component. */
export function brandName(): string {
  return store.get().name;
}

/** The brand that `content` describes. Throws Error naming the field that is not as it must be. */
export function readBrand(content: unknown): Brand {
  if (content === undefined) return OPENSPOT;
  const found = (content ?? {}) as Record<string, unknown>;
  const links = (field: string): PageLink[] => {
    const value = found[field];
    if (!Array.isArray(value)) throw new Error(`config.json: brand.${field} must be a list`);
    return value.map((item: Partial<PageLink> | null) => {
      if (typeof item?.title !== "string" || typeof item.url !== "string")
        throw new Error(`config.json: brand.${field} must hold titles and addresses`);
      return { title: item.title, url: item.url };
    });
  };
  if (typeof found.name !== "string") throw new Error("config.json: brand.name must be a text");
  const logo = typeof found.logo === "string" ? found.logo : null;
  return { name: found.name, logo, links: links("links"), legal: links("legal") };
}
