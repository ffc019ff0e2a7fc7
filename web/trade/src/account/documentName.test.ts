import { expect, it } from "vitest";
import { sendableName } from "./documentName.ts";

it("a name is sent without what nobody sees in it", () => {
  expect(sendableName("Pass – März (1).png")).toBe("Pass – März (1).png");
  expect(sendableName("evil-\u202Egpj.exe")).toBe("evil-gpj.exe");
  expect(sendableName("a\u0000b\nc/d\\e\u2028.pdf")).toBe("abcde.pdf");
  expect(sendableName("👨\u200D👩.jpg")).toBe("👨👩.jpg");
  expect(sendableName("x".repeat(300))).toBe("x".repeat(255));
});
