/** How a verification can be decided, and the levels that it is about. */
export const DECISIONS = [
  { value: "approve", label: "Approve" },
  { value: "hold", label: "Put on hold" },
  { value: "retry", label: "Refuse; the user may try again" },
  { value: "reject", label: "Refuse for good" },
] as const;
export const LEVELS = [
  { value: "verified", label: "Verified" },
  { value: "basic", label: "Basic" },
] as const;
