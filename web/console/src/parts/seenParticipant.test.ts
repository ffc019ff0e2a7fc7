import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ParticipantSchema } from "#gen/exchange/v1/admin_pb.ts";
import { seenByAdministrator } from "./seenParticipant.ts";

describe("a participant that an administrator of the engine sees", () => {
  const stateOf = (told: { active: boolean; frozen?: boolean }) =>
    seenByAdministrator(create(ParticipantSchema, { participantId: "ada", ...told })).state;

  it("is active, or frozen by an operator, or inactive", () => {
    expect(stateOf({ active: true })).toBe("active");
    expect(stateOf({ active: false, frozen: true })).toBe("frozen");
    expect(stateOf({ active: false })).toBe("inactive");
  });
});
