/** The name of a table row that is an amount of one asset: "0.5 BTC". */
export const amountName = ({ amount, asset }: { amount: string; asset: string }) => `${amount} ${asset}`;
