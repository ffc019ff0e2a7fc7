import { useBrand } from "../brand.ts";

/** The mark of the exchange; its name stands beside it. */
export function Logo({ size = 26 }: { size?: number }) {
  const { logo } = useBrand();
  if (logo !== null) return <img src={logo} height={size} alt="" />;
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#2f5bd9" />
      <path d="M7 21V14M12 24V9M17 19v-8M22 23V12" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <circle cx="25.5" cy="8" r="2.5" fill="#8fb0ff" />
    </svg>
  );
}
