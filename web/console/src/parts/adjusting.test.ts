import { expect, it } from "vitest";
import { adjustingPlace } from "./adjusting.ts";

it("leads customers to engine and ledger, the house to the treasury, and others to the engine alone", () => {
  expect(adjustingPlace("HfPf8qJo4PrrPcpK", "BOTH").path).toBe("/users/HfPf8qJo4PrrPcpK?do=adjust");
  expect(adjustingPlace("house:fees", "BOTH").path).toBe("/treasury");
  expect(adjustingPlace("house:fees", "SYSTEM").path).toBe("/treasury");
  expect(adjustingPlace("a maker", "MAKER").path).toBe("/balances?participant=a%20maker");
});
