/** The share of bids among bids and asks in whole percent, or null where there is neither. 0 and 100 are exact. Pure. */
export function shareOfBids(bids: bigint, asks: bigint): number | null {
  const all = bids + asks;
  if (all <= 0n) return null;
  if (bids === 0n || asks === 0n) return bids === 0n ? 0 : 100;
  return Math.min(99, Math.max(1, Number((bids * 200n + all) / (all * 2n))));
}
