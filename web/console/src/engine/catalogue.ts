/**
 * Types of participants and names of permissions, as the console knows them (Document A 2.6).
 *
 * Six types can be created and are the engine's own. The other eight are roles of an operating team; like the
 * permissions they are this catalogue's definition. What the engine enforces is in `ENFORCED`, and nothing else.
 */

export type ParticipantType =
  | "MAKER"
  | "TAKER"
  | "BOTH"
  | "BROKER"
  | "SYSTEM"
  | "SUPER_ADMIN"
  | "ADMIN"
  | "OPERATOR"
  | "RISK_MANAGER"
  | "COMPLIANCE_OFFICER"
  | "TREASURER"
  | "SUPPORT_AGENT"
  | "AUDITOR"
  | "READ_ONLY";

export interface TypeDescription {
  type: ParticipantType;
  title: string;
  description: string;
  /** Whether CreateParticipant takes it. */
  creatable: boolean;
}

export const PARTICIPANT_TYPES: readonly TypeDescription[] = [
  {
    type: "MAKER",
    title: "Maker",
    description: "Quotes both sides of a book and rests orders.",
    creatable: true,
  },
  { type: "TAKER", title: "Taker", description: "Trades against resting orders.", creatable: true },
  {
    type: "BOTH",
    title: "Maker and taker",
    description: "Trades either way; the type of every customer.",
    creatable: true,
  },
  { type: "BROKER", title: "Broker", description: "Trades for customers of its own.", creatable: true },
  {
    type: "SYSTEM",
    title: "System",
    description: "A service of the platform; may administer the engine.",
    creatable: true,
  },
  {
    type: "SUPER_ADMIN",
    title: "Super administrator",
    description: "A person who may administer everything.",
    creatable: true,
  },
  {
    type: "ADMIN",
    title: "Administrator",
    description: "Runs participants and markets, without money and access.",
    creatable: false,
  },
  {
    type: "OPERATOR",
    title: "Operator",
    description: "Watches the exchange and cancels orders when needed.",
    creatable: false,
  },
  {
    type: "RISK_MANAGER",
    title: "Risk manager",
    description: "Sets limits and stops participants and markets.",
    creatable: false,
  },
  {
    type: "COMPLIANCE_OFFICER",
    title: "Compliance officer",
    description: "Reviews identities and suspicious activity.",
    creatable: false,
  },
  {
    type: "TREASURER",
    title: "Treasurer",
    description: "Approves withdrawals and adjusts balances.",
    creatable: false,
  },
  {
    type: "SUPPORT_AGENT",
    title: "Support agent",
    description: "Sees one customer's data to help them.",
    creatable: false,
  },
  {
    type: "AUDITOR",
    title: "Auditor",
    description: "Sees everything, changes nothing, exports records.",
    creatable: false,
  },
  {
    type: "READ_ONLY",
    title: "Reader",
    description: "Sees markets and figures of the exchange.",
    creatable: false,
  },
];

/** The types that CreateParticipant takes. */
export const CREATABLE_TYPES = PARTICIPANT_TYPES.filter(({ creatable }) => creatable);

export const ENFORCED =
  "The engine enforces two rules: sessions of type SUPER_ADMIN and SYSTEM may call every administration method, and no other session may call any. Every active participant may trade. Finer permissions are those of operators' roles: the REST edge, custody and the web server refuse a call without the one that it needs. No call needs some names of this catalogue: they open nothing, and each says so. Pages that need a session with the engine ask for no permission.";

export interface StpDescription {
  mode: string;
  title: string;
  description: string;
}

/** Self-trade prevention: what happens when two orders of one participant would trade with each other. */
export const STP_MODES: readonly StpDescription[] = [
  { mode: "NONE", title: "None", description: "Its orders may trade with each other." },
  {
    mode: "CANCEL_RESTING",
    title: "Cancel resting",
    description: "The resting order is cancelled, the incoming one goes on.",
  },
  {
    mode: "CANCEL_INCOMING",
    title: "Cancel incoming",
    description: "The incoming order is cancelled, the resting one stays.",
  },
  { mode: "CANCEL_BOTH", title: "Cancel both", description: "Both orders are cancelled." },
  {
    mode: "DECREMENT_AND_CANCEL",
    title: "Decrement and cancel",
    description: "Both lose the smaller quantity; the one that is used up is cancelled.",
  },
];

export interface Permission {
  name: string;
  title: string;
  holders: readonly ParticipantType[];
}

export interface PermissionGroup {
  title: string;
  permissions: readonly Permission[];
}

const TRADERS = ["MAKER", "TAKER", "BOTH", "BROKER"] as const;
const ALL_POWERFUL = ["SYSTEM", "SUPER_ADMIN"] as const;
const READERS = ["AUDITOR", "ADMIN", "OPERATOR"] as const;

function permission(name: string, title: string, ...others: readonly ParticipantType[]): Permission {
  return { name, title, holders: [...ALL_POWERFUL, ...others] };
}

export const PERMISSION_GROUPS: readonly PermissionGroup[] = [
  {
    title: "Orders",
    permissions: [
      permission("orders.place", "Place own orders", ...TRADERS),
      permission("orders.place_for_customer", "Place orders for a customer", "BROKER"),
      permission("orders.read_own", "See own orders", ...TRADERS),
      permission(
        "orders.read_all",
        "See everybody's orders",
        ...READERS,
        "RISK_MANAGER",
        "COMPLIANCE_OFFICER",
        "SUPPORT_AGENT",
      ),
      permission("orders.cancel_own", "Cancel own orders", ...TRADERS),
      permission("orders.cancel_any", "Cancel anybody's order", "OPERATOR", "RISK_MANAGER"),
      permission("orders.cancel_all", "Cancel all orders of a participant", "RISK_MANAGER"),
      permission("orders.move_own", "Move own orders to another price", ...TRADERS),
      permission("orders.reduce_own", "Reduce own orders", ...TRADERS),
    ],
  },
  {
    title: "Trades",
    permissions: [
      permission("trades.read_own", "See own trades", ...TRADERS),
      permission(
        "trades.read_all",
        "See everybody's trades",
        ...READERS,
        "RISK_MANAGER",
        "COMPLIANCE_OFFICER",
      ),
      permission("trades.export", "Export trades", "AUDITOR", "COMPLIANCE_OFFICER"),
      permission("trades.annotate", "Attach a note to a trade", "COMPLIANCE_OFFICER"),
    ],
  },
  {
    title: "Participants",
    permissions: [
      permission(
        "participants.read",
        "See participants",
        ...READERS,
        "RISK_MANAGER",
        "COMPLIANCE_OFFICER",
        "SUPPORT_AGENT",
      ),
      permission("participants.create", "Create a participant", "ADMIN"),
      permission("participants.activate", "Activate a participant", "ADMIN", "RISK_MANAGER"),
      permission("participants.deactivate", "Deactivate a participant", "ADMIN", "RISK_MANAGER"),
      permission("participants.set_stp_mode", "Set self-trade prevention", "ADMIN", "RISK_MANAGER"),
      permission("participants.set_fees", "Set a participant's own fees", "ADMIN"),
      permission("participants.reset_password", "Set a new password"),
      permission("participants.set_type", "Change a participant's type"),
    ],
  },
  {
    title: "Users",
    permissions: [
      permission("users.read", "See users and their accounts"),
      permission("users.export", "Export lists of users"),
      permission("users.annotate", "Write notes about a user"),
      permission("users.lock_login", "Lock and unlock a user's login"),
      permission("users.lock_withdrawals", "Lock and unlock a user's withdrawals"),
      permission("users.reset_second_factor", "Reset a user's second factor, as one of two"),
      permission("users.resend_mail", "Send a user's mails again"),
      permission("users.set_limits", "Change a user's limits"),
      permission("users.close", "Close a user's account"),
    ],
  },
  {
    title: "Balances",
    permissions: [
      permission("balances.read_own", "See own balances", ...TRADERS),
      permission(
        "balances.read_all",
        "See everybody's balances",
        ...READERS,
        "RISK_MANAGER",
        "TREASURER",
        "COMPLIANCE_OFFICER",
      ),
      permission("balances.adjust_up", "Add to a balance", "TREASURER"),
      permission("balances.adjust_down", "Take from a balance", "TREASURER"),
      permission("balances.approve", "Approve an adjustment, as the second of two"),
      permission("balances.transfer", "Move money between accounts", "TREASURER"),
      permission("balances.export", "Export balances", "AUDITOR", "TREASURER"),
    ],
  },
  {
    title: "Deposits and withdrawals",
    permissions: [
      permission(
        "deposits.read",
        "See deposits",
        ...READERS,
        "TREASURER",
        "SUPPORT_AGENT",
        "COMPLIANCE_OFFICER",
      ),
      permission("deposits.export", "Export deposits"),
      permission("deposits.credit", "Credit a deposit by hand", "TREASURER"),
      permission("withdrawals.request", "Request own withdrawals", ...TRADERS),
      permission(
        "withdrawals.read",
        "See withdrawals",
        ...READERS,
        "TREASURER",
        "SUPPORT_AGENT",
        "COMPLIANCE_OFFICER",
      ),
      permission("withdrawals.export", "Export withdrawals"),
      permission("withdrawals.assign", "Give a withdrawal to another operator"),
      permission("withdrawals.approve", "Approve a withdrawal", "TREASURER"),
      permission("withdrawals.reject", "Reject a withdrawal", "TREASURER", "COMPLIANCE_OFFICER"),
      permission("withdrawals.sign", "Sign a withdrawal", "TREASURER"),
      permission("wallets.read", "See wallets and their limits", "AUDITOR", "TREASURER"),
      permission("wallets.configure", "Set the limits of wallets"),
    ],
  },
  {
    title: "Payments and plans",
    permissions: [
      permission("payments.read", "See payments"),
      permission("payments.export", "Export payments"),
      permission("plans.read", "See plans and subscriptions"),
      permission("plans.change", "Change a subscription"),
    ],
  },
  {
    title: "Markets",
    permissions: [
      permission(
        "markets.read",
        "See markets and books",
        ...TRADERS,
        ...READERS,
        "RISK_MANAGER",
        "READ_ONLY",
        "SUPPORT_AGENT",
      ),
      permission("markets.announce", "Announce something on the trading screen"),
      permission("symbols.set_phase", "Change the phase of a market"),
      permission("symbols.create", "Create a symbol", "ADMIN"),
      permission("symbols.update", "Change a symbol's fees", "ADMIN"),
      permission("symbols.deactivate", "Stop a symbol's new orders", "ADMIN", "RISK_MANAGER"),
      permission("symbols.delete", "Delete a symbol"),
      permission("currencies.create", "Create a currency", "ADMIN"),
      permission("currencies.update", "Change a currency", "ADMIN"),
      permission("currencies.delete", "Delete a currency"),
      permission("fees.configure", "Set volume tiers", "ADMIN"),
    ],
  },
  {
    title: "Risk",
    permissions: [
      permission("risk.read", "See risk metrics", ...READERS, "RISK_MANAGER"),
      permission("risk.set_limits", "Set limits of orders", "RISK_MANAGER"),
      permission(
        "risk.freeze_participant",
        "Freeze a participant at once",
        "RISK_MANAGER",
        "COMPLIANCE_OFFICER",
      ),
      permission("margin.read", "See margin accounts", ...READERS, "RISK_MANAGER"),
      permission("margin.liquidate", "Start a liquidation", "RISK_MANAGER"),
    ],
  },
  {
    title: "Compliance",
    permissions: [
      permission("kyc.read", "See identity checks", "COMPLIANCE_OFFICER", "AUDITOR"),
      permission("kyc.decide", "Decide identity checks", "COMPLIANCE_OFFICER"),
      permission("cases.read", "See cases", "COMPLIANCE_OFFICER", "AUDITOR"),
      permission("cases.close", "Close cases", "COMPLIANCE_OFFICER"),
      permission("reports.regulatory", "Make reports for authorities", "COMPLIANCE_OFFICER"),
      permission(
        "reports.read",
        "See the exchange's figures by day and month",
        "COMPLIANCE_OFFICER",
        "AUDITOR",
      ),
      permission("reports.export", "Save these figures as files", "AUDITOR"),
      permission("reserves.prove", "Prove to users what they are owed", "TREASURER"),
    ],
  },
  {
    title: "Access",
    permissions: [
      permission("sessions.read", "See sessions", "AUDITOR", "ADMIN"),
      permission("sessions.end_any", "End anybody's session", "ADMIN"),
      permission("api_keys.manage_own", "Manage own API keys", ...TRADERS),
      permission("api_keys.read_all", "See everybody's API keys"),
      permission("api_keys.revoke_any", "Revoke anybody's API key", "ADMIN"),
      permission(
        "permissions.read",
        "See this catalogue",
        ...READERS,
        "RISK_MANAGER",
        "COMPLIANCE_OFFICER",
        "TREASURER",
      ),
      permission("permissions.grant", "Give and take roles"),
      permission("console.use", "Use the console"),
      permission("operators.read", "See operators and their sessions"),
      permission("operators.end_sessions", "End an operator's session"),
    ],
  },
  {
    title: "System",
    permissions: [
      permission("stats.read", "See the exchange's figures", ...READERS, "RISK_MANAGER", "READ_ONLY"),
      permission("health.read", "See the health of services", ...READERS),
      permission("logs.read", "Read the logs of services", "AUDITOR"),
      permission("processes.restart", "Restart a service"),
      permission("journal.verify", "Verify the journal", "AUDITOR"),
      permission("journal.export", "Export the journal", "AUDITOR"),
      permission("alerts.read", "See alerts and where they go"),
      permission("alerts.try", "Send a test of an alert"),
      permission("reconcile.run", "Run the reconciliation", "AUDITOR", "OPERATOR"),
      permission("reconcile.read", "See differences of the reconciliation", ...READERS, "TREASURER"),
      permission("audit.read", "Read the audit log", "AUDITOR", "COMPLIANCE_OFFICER"),
      permission("audit.export", "Export the audit log", "AUDITOR"),
      permission("settings.read", "See settings", "ADMIN", "AUDITOR"),
      permission("settings.change", "Change settings"),
    ],
  },
];
