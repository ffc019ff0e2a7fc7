/**
 * Checks a user's part of a proof of reserves: the same rules as docs/reserves/verify_reserves.py, in the browser.
 *
 * Sums are added here and never taken from the proof. A page that the exchange serves can lie; who must be sure runs the
 * file above on a computer of their own.
 */

const FORMAT = "openspot-reserves-1";
const PLACES = 18;
const SUM_BYTES = 32;
const SUM_LIMIT = 1n << 192n;
const DEPTH_MAX = 40;
const AMOUNT = /^(0|[1-9][0-9]{0,39})(\.[0-9]{1,18})?$/;
const DIGITS = "0123456789abcdef";
const HASH = /^[0-9a-f]{64}$/;

export interface Statement {
  format: string;
  id: string;
  takenAt: string;
  epoch: string;
  sequence: number;
  depth: number;
  rootHash: string;
  previous: string | null;
  assets: readonly { asset: string; liabilities: string; reserves: string }[];
  digest: string;
}

export interface Proof {
  statement: Statement;
  userId: string;
  leaves: readonly {
    position: number;
    nonce: string;
    balances: readonly string[];
    path: readonly { hash: string; sums: readonly string[] }[];
  }[];
}

export interface Owed {
  asset: string;
  amount: string;
}

/** What does not hold: the statement, the user, a leaf, or a sum. */
export type Fault = "statement" | "user" | "leaf" | "sum";

export class ProofError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(`the proof does not hold: ${fault}`);
    this.fault = fault;
  }
}

interface Node {
  hash: Uint8Array;
  sums: readonly bigint[];
}

/** Whether this browser can compute the hashes: only on pages that came over https, or from this computer. */
export function canCheck(): boolean {
  return typeof crypto !== "undefined" && (crypto as Partial<Crypto>).subtle !== undefined;
}

/** What the proof says that the user is owed, by asset; nothing if it has no leaf. Rejects with ProofError. */
export async function checkProof(proof: Proof, userId: string): Promise<Owed[]> {
  const { statement, leaves } = proof;
  if (proof.userId !== userId) throw new ProofError("user");
  const liabilities = await checkStatement(statement);
  const width = liabilities.length;
  let total = liabilities.map(() => 0n);
  const positions = new Set<number>();
  for (const { position, nonce, balances, path } of leaves) {
    const isPlace = Number.isInteger(position) && position >= 0 && position < 2 ** statement.depth;
    if (!isPlace || positions.has(position) || path.length !== statement.depth) throw new ProofError("leaf");
    positions.add(position);
    const owed = amountsOf(balances, width);
    let node: Node = { hash: await leafHash(userId, hashOf(nonce), owed), sums: owed };
    let place = position;
    for (const step of path) {
      const beside: Node = { hash: hashOf(step.hash), sums: amountsOf(step.sums, width) };
      node = place % 2 === 1 ? await joined(beside, node) : await joined(node, beside);
      place = Math.floor(place / 2);
    }
    if (hex(node.hash) !== statement.rootHash) throw new ProofError("leaf");
    if (node.sums.some((sum, asset) => sum !== liabilities[asset])) throw new ProofError("sum");
    total = total.map((sum, asset) => sum + (owed[asset] ?? 0n));
  }
  return statement.assets
    .map(({ asset }, number) => ({ asset, sum: total[number] ?? 0n }))
    .filter(({ sum }) => sum > 0n)
    .map(({ asset, sum }) => ({ asset, amount: textOf(sum) }));
}

/** The liabilities of a statement whose digest is right. Rejects with ProofError. */
export async function checkStatement(statement: Statement): Promise<bigint[]> {
  const names = statement.assets.map(({ asset }) => asset);
  const isOrdered = [...new Set(names)].sort().join() === names.join();
  const { depth } = statement;
  const isTree = Number.isInteger(depth) && depth >= 1 && depth <= DEPTH_MAX;
  if (statement.format !== FORMAT || !isOrdered || !isTree) throw new ProofError("statement");
  const lines = [
    FORMAT,
    statement.id,
    statement.takenAt,
    statement.epoch,
    String(statement.sequence),
    String(depth),
    statement.rootHash,
    statement.previous ?? "-",
    ...statement.assets.map(({ asset, liabilities, reserves }) => `${asset} ${liabilities} ${reserves}`),
  ];
  if (lines.some((line) => line.includes("\n"))) throw new ProofError("statement");
  const own = await sha256([new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))]);
  if (hex(own) !== statement.digest) throw new ProofError("statement");
  return amountsOf(
    statement.assets.map(({ liabilities }) => liabilities),
    names.length,
  );
}

async function leafHash(userId: string, nonce: Uint8Array, sums: readonly bigint[]): Promise<Uint8Array> {
  const name = new TextEncoder().encode(userId);
  return sha256([Uint8Array.of(0), nonce, Uint8Array.of(name.length), name, encoded(sums)]);
}

async function joined(left: Node, right: Node): Promise<Node> {
  const sums = left.sums.map((sum, asset) => sum + (right.sums[asset] ?? 0n));
  if (sums.some((sum) => sum >= SUM_LIMIT)) throw new ProofError("sum");
  const content = [Uint8Array.of(1), left.hash, encoded(left.sums), right.hash, encoded(right.sums)];
  return { hash: await sha256(content), sums };
}

async function sha256(parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const content = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    content.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", content));
}

function amountsOf(texts: readonly string[], width: number): bigint[] {
  if (texts.length !== width) throw new ProofError("sum");
  return texts.map((text) => {
    if (!AMOUNT.test(text)) throw new ProofError("sum");
    const [whole = "", fraction = ""] = text.split(".");
    const amount = BigInt(whole + fraction.padEnd(PLACES, "0"));
    if (amount >= SUM_LIMIT) throw new ProofError("sum");
    return amount;
  });
}

function encoded(sums: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(SUM_BYTES * sums.length);
  sums.forEach((sum, asset) => {
    let rest = sum;
    for (let at = SUM_BYTES * (asset + 1) - 1; rest > 0n; at -= 1) {
      bytes[at] = Number(rest & 255n);
      rest >>= 8n;
    }
  });
  return bytes;
}

function hashOf(text: string): Uint8Array {
  if (!HASH.test(text)) throw new ProofError("leaf");
  const digit = (at: number) => DIGITS.indexOf(text.charAt(at));
  return Uint8Array.from({ length: 32 }, (_, at) => 16 * digit(2 * at) + digit(2 * at + 1));
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function textOf(amount: bigint): string {
  const digits = amount.toString().padStart(PLACES + 1, "0");
  const fraction = digits.slice(-PLACES).replace(/0+$/, "");
  return digits.slice(0, -PLACES) + (fraction === "" ? "" : `.${fraction}`);
}
