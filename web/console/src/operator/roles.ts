/** The roles of operators, as the console names them. Which permissions each has, the REST edge says. */
import type { OperatorRole } from "./session.ts";

export interface RoleWords {
  role: OperatorRole;
  title: string;
  description: string;
}

export const ROLES: readonly RoleWords[] = [
  { role: "SUPPORT", title: "Support", description: "Helps users: sees them, locks what is in danger." },
  { role: "COMPLIANCE", title: "Compliance", description: "Decides verification, limits and closures." },
  { role: "TREASURY", title: "Treasury", description: "Decides withdrawals and adjusts balances." },
  {
    role: "MARKET_OPERATIONS",
    title: "Market operations",
    description: "Lists markets, changes their fees and phases.",
  },
  { role: "AUDITOR", title: "Auditor", description: "Reads everything, changes nothing." },
  { role: "ADMINISTRATOR", title: "Administrator", description: "Does everything, and gives roles." },
];
