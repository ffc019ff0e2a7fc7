/** The rules of the REST edge for API keys, said before anything is sent. */
import { parseCount } from "#lib/counts.ts";
import { t } from "#lib/language.ts";
import type { Schemas } from "../api/client.ts";

export type Scope = Schemas["Scope"];

export const NAME_LENGTH_MAX = 64;
export const NETWORKS_MAX = 32;

export const SCOPES: readonly { scope: Scope; title: string; text: string }[] = [
  {
    scope: "read",
    get title() {
      return t("Read");
    },
    get text() {
      return t("Balances, orders, fills, deposits and withdrawals.");
    },
  },
  {
    scope: "trade",
    get title() {
      return t("Trade");
    },
    get text() {
      return t("Place and amend orders, convert, stake.");
    },
  },
  {
    scope: "cancel",
    get title() {
      return t("Cancel");
    },
    get text() {
      return t("Cancel orders.");
    },
  },
  {
    scope: "withdraw",
    get title() {
      return t("Withdraw");
    },
    get text() {
      return t("Send funds to saved addresses. Needs allowed addresses.");
    },
  },
];

/** The widest network of a key that may withdraw, as bits of its prefix. */
const WITHDRAW_PREFIX_MIN = { 4: 16, 6: 32 } as const;
const BITS = { 4: 32, 6: 128 } as const;

/** The addresses and networks of a text, one a line or with commas between them. */
export function networksOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((part) => part !== ""))];
}

interface Network {
  version: 4 | 6;
  prefix: number;
}

/** Version and length of the prefix of an address or a network, or null. The edge checks the rest. */
function readNetwork(text: string): Network | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = address.includes(":") ? 6 : 4;
  const isAddress = version === 6 ? /^[0-9a-f:.]{2,45}$/i.test(address) : isFourBytes(address);
  if (!isAddress || rest.length > 0) return null;
  const bits = prefix === undefined ? BITS[version] : parseCount(prefix);
  return bits !== null && bits <= BITS[version] ? { version, prefix: bits } : null;
}

function isFourBytes(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => (parseCount(part) ?? 256) <= 255 && part.length <= 3);
}

/** What is wrong with the name of a key, or null. */
export function nameFault(name: string): string | null {
  if (name.trim() === "") return t("Give the key a name that tells you later what uses it.");
  return /^[\x20-\x7e]*$/.test(name) ? null : t("Letters without accents, digits and signs are allowed.");
}

/** What is wrong with the allowed addresses of a key with these scopes, or null. */
export function networksFault(networks: readonly string[], scopes: readonly Scope[]): string | null {
  if (networks.length > NETWORKS_MAX)
    return t("At most {networksMax} addresses or networks are allowed.", { networksMax: NETWORKS_MAX });
  const bad = networks.find((text) => readNetwork(text) === null);
  if (bad !== undefined)
    return t("{bad} is neither an address nor a network such as 203.0.113.0/24.", { bad });
  if (!scopes.includes("withdraw")) return null;
  if (networks.length === 0) return t("A key that withdraws needs the addresses that it may be used from.");
  const wide = networks.find((text) => {
    const network = readNetwork(text);
    return network !== null && network.prefix < WITHDRAW_PREFIX_MIN[network.version];
  });
  return wide === undefined
    ? null
    : t("{wide} is too wide for a key that withdraws: at least /16 (IPv6: /32).", { wide });
}
