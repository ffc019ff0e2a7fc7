import { expect, test } from "vitest";
import example from "./example.json";
import { canCheck, checkProof, type Fault, type Proof, ProofError } from "./proof.ts";

/** A proof that the platform's own rules made; tests/unit/reserves/test_verifier.py makes it anew and compares. */
const PROOF: Proof = example;

function copy(): Proof & { leaves: { balances: string[]; path: { hash: string; sums: string[] }[] }[] } {
  return structuredClone(PROOF) as never;
}

async function faultOf(proof: Proof, userId = "alice"): Promise<Fault | null> {
  try {
    await checkProof(proof, userId);
    return null;
  } catch (error) {
    if (error instanceof ProofError) return error.fault;
    throw error;
  }
}

test("a user's proof holds, and its leaves add up", async () => {
  expect(canCheck()).toBe(true);
  expect(await checkProof(PROOF, "alice")).toEqual([
    { asset: "BTC", amount: "3.5" },
    { asset: "USD", amount: "0.000000000000000005" },
  ]);
});

test("nobody else can use it", async () => {
  expect(await faultOf(PROOF, "mallory")).toBe("user");
  expect(await faultOf({ ...PROOF, userId: "mallory" }, "mallory")).toBe("leaf");
});

test("a changed balance, sum, hash or statement is refused", async () => {
  for (const [amount, fault] of [
    ["4", "leaf"],
    ["-1", "sum"],
    ["1e3", "sum"],
  ] as const) {
    const balance = copy();
    balance.leaves[0]?.balances.splice(0, 1, amount);
    expect(await faultOf(balance)).toBe(fault);
    const beside = copy();
    beside.leaves[0]?.path[1]?.sums.splice(0, 1, amount);
    expect(await faultOf(beside)).toBe(fault);
  }
  const assets = PROOF.statement.assets.map((each) => ({ ...each, liabilities: "1" }));
  expect(await faultOf({ ...PROOF, statement: { ...PROOF.statement, assets } })).toBe("statement");
});

test("the same leaf twice, a short path or a leaf beside the tree is refused", async () => {
  const [leaf] = PROOF.leaves;
  if (!leaf) throw new Error("the example has leaves");
  expect(await faultOf({ ...PROOF, leaves: [leaf, leaf] })).toBe("leaf");
  expect(await faultOf({ ...PROOF, leaves: [{ ...leaf, path: leaf.path.slice(1) }] })).toBe("leaf");
  expect(await faultOf({ ...PROOF, leaves: [{ ...leaf, position: 8 }] })).toBe("leaf");
});

test("without a leaf nothing is owed", async () => {
  expect(await checkProof({ ...PROOF, leaves: [] }, "alice")).toEqual([]);
});
