import { describe, expect, it, vi } from "vitest";
import { createStore } from "#lib/store.ts";
import { type Attempt, attempt, attemptsAt, unknownAt } from "./attempts.ts";
import { RefusedError, UnreachableError } from "./errors.ts";

// What a browser has and Node lacks.
vi.mock("./session.ts", () => ({ currentSession: () => null, onSessionChange: () => () => undefined }));

const refusal = (status: number, code = "") => new RefusedError(status, { message: "no", code }, null);
const lost = new UnreachableError("https://exchange.example", false);

/** A place where requests are sent: each is answered with the next of `answers`, an error or "done". */
function sending(...answers: unknown[]) {
  const attempts = createStore<Attempt | null>(null);
  const sent: { body: string; key: string }[] = [];
  const ask = (asked: string, body: string) =>
    attempt(attempts, asked, body, (each, key) => {
      sent.push({ body: each, key });
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    }).catch((error: unknown) => error);
  const keys = () => new Set(sent.map(({ key }) => key)).size;
  return { attempts, ask, sent, keys };
}

describe("a request whose outcome is not known", () => {
  it.each([
    ["the exchange does not know it", refusal(504, "ORDER_STATUS_UNKNOWN")],
    ["no response came", lost],
    ["the response ended in the middle", new TypeError("terminated")],
    ["the first one is still being worked on", refusal(409, "IDEMPOTENCY_KEY_IN_USE")],
  ])("goes out again as it was, whatever it would be by now, where %s", async (_, error) => {
    const { attempts, ask, sent, keys } = sending(error, "done");
    await ask("100 USD", "1.005 BTC");
    expect(attempts.get()?.state).toBe("unknown");
    expect(await ask("100 USD", "1.01 BTC")).toBe("done");
    expect(sent.map(({ body }) => body)).toEqual(["1.005 BTC", "1.005 BTC"]);
    expect(keys()).toBe(1);
    expect(attempts.get()).toBeNull();
  });

  it("stays unknown when the repetition is refused before the exchange looks what became of it", async () => {
    const early = [refusal(401), refusal(403), refusal(429), refusal(409, "IDEMPOTENCY_KEY_IN_USE")];
    const { ask, keys, sent } = sending(lost, ...early, "done");
    for (let time = 0; time < early.length + 2; time++) await ask("100 USD", `at ${time}`);
    expect(sent).toHaveLength(early.length + 2);
    expect(keys()).toBe(1);
  });

  it("is another one as soon as something else is asked for", async () => {
    const { ask, sent, keys } = sending(lost, "done");
    await ask("100 USD", "1.005 BTC");
    await ask("90 USD", "0.9 BTC");
    expect(sent.map(({ body }) => body)).toEqual(["1.005 BTC", "0.9 BTC"]);
    expect(keys()).toBe(2);
  });
});

describe("a request with a definite answer", () => {
  it.each([
    ["it was carried out", "done"],
    ["it was refused", refusal(400, "INSUFFICIENT_BALANCE")],
    ["it did not begin", refusal(429)],
  ])("is followed by a new one where %s", async (_, answer) => {
    const { ask, sent, keys } = sending(answer, "done");
    await ask("100 USD", "1.005 BTC");
    await ask("100 USD", "1.01 BTC");
    expect(sent.map(({ body }) => body)).toEqual(["1.005 BTC", "1.01 BTC"]);
    expect(keys()).toBe(2);
  });

  it("leaves the reason of a refusal for who looks later", async () => {
    const error = refusal(400, "INSUFFICIENT_BALANCE");
    const { attempts, ask } = sending(error);
    expect(await ask("100 USD", "1 BTC")).toBe(error);
    expect(attempts.get()).toMatchObject({ state: "refused", error });
  });
});

describe("attempts at a place", () => {
  it("are those of every form there, and show that one is on its way", async () => {
    let answer: (value: string) => void = () => undefined;
    const isOver = attempt(
      attemptsAt("spot ada BTC-USD"),
      "1 BTC",
      "1 BTC",
      () =>
        new Promise<string>((done) => {
          answer = done;
        }),
    );
    expect(attemptsAt("spot ada BTC-USD").get()?.state).toBe("pending");
    expect(attemptsAt("spot ada ETH-USD").get()).toBeNull();
    expect(attemptsAt("spot eve BTC-USD").get()).toBeNull();
    answer("done");
    await isOver;
    expect(attemptsAt("spot ada BTC-USD").get()).toBeNull();
  });
});

it("what was asked for is known at its place until its outcome is", async () => {
  expect(unknownAt("a dialog")).toBeNull();
  const attempts = attemptsAt("a dialog");
  const ask = (answer: Promise<string>) => attempt(attempts, "60 USD", null, () => answer).catch(() => null);
  const first = ask(Promise.reject(lost));
  expect(unknownAt("a dialog")).toBe("60 USD");
  await first;
  expect(unknownAt("a dialog")).toBe("60 USD");
  expect(unknownAt("another dialog")).toBeNull();
  await ask(Promise.resolve("done"));
  expect(unknownAt("a dialog")).toBeNull();
  await ask(Promise.reject(refusal(400)));
  expect(unknownAt("a dialog")).toBeNull();
});
