/**
 * What an address looks like on each network, so that a slip is seen while it is typed. The exchange checks the
 * checksum too when the address is saved. A network that is not known here takes any text.
 */
import { t } from "#lib/language.ts";

interface Format {
  pattern: RegExp;
  words: string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  bitcoin: {
    pattern: /^((tb1[a-z0-9]{8,87}|TB1[A-Z0-9]{8,87})|[mn2][1-9A-HJ-NP-Za-km-z]{25,39})$/,
    get words() {
      return t("A Bitcoin test network address begins with tb1, m, n or 2.");
    },
  },
  ethereum: {
    pattern: /^0x[0-9a-fA-F]{40}$/,
    get words() {
      return t("An Ethereum address is 0x and 40 hex digits.");
    },
  },
  solana: {
    pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
    get words() {
      return t("A Solana address is 32 to 44 letters and digits, without 0, O, I and l.");
    },
  },
  tron: {
    pattern: /^T[1-9A-HJ-NP-Za-km-z]{33}$/,
    get words() {
      return t("A Tron address is T and 33 letters and digits.");
    },
  },
  stellar: {
    pattern: /^G[A-Z2-7]{55}$/,
    get words() {
      return t("A Stellar address is G and 55 capitals and digits.");
    },
  },
  wire: {
    pattern: /^[0-9]{9}:[0-9]{4,17}$/,
    get words() {
      return t("Write the routing number of 9 digits, a colon, and the account number.");
    },
  },
  ted: {
    pattern: /^[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]{11,40}$/,
    get words() {
      return t("An IBAN is a country, two digits and the account.");
    },
  },
};

/** Networks whose addresses may need a tag, which others call a memo. */
const WITH_TAG: ReadonlySet<string> = new Set(["stellar"]);

/** Why a text that is not empty is no address of the network, or null. */
export function addressFault(network: string, address: string): string | null {
  const format = FORMATS[network];
  return format === undefined || format.pattern.test(address) ? null : format.words;
}

/** Whether the network's addresses may need a tag. */
export function takesTag(network: string): boolean {
  return WITH_TAG.has(network);
}
