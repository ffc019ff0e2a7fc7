/** Where the balances of a participant are adjusted. Pure. */

export interface AdjustingPlace {
  path: string;
  title: string;
}

/**
 * A customer's where engine and ledger both change, the house's by transfers of the treasury. Anybody else has no account
 * at the exchange: those balances are of the engine alone.
 */
export function adjustingPlace(participantId: string, type: string): AdjustingPlace {
  const id = encodeURIComponent(participantId);
  if (participantId.startsWith("house:")) return { path: "/treasury", title: "Move in the treasury" };
  if (type === "BOTH") return { path: `/users/${id}?do=adjust`, title: "Adjust a balance" };
  return { path: `/balances?participant=${id}`, title: "Adjust at the engine alone" };
}
