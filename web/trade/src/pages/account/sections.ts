/** The pages of the account. A new one is a file of this folder and an entry here; it is loaded when it is opened. */
import {
  BellIcon,
  CreditCardIcon,
  KeyIcon,
  PersonIcon,
  ShieldLockIcon,
  VerifiedIcon,
} from "@primer/octicons-react";
import { type ComponentType, lazy, type LazyExoticComponent } from "react";

export const ACCOUNT = "/account";

export interface Section {
  /** Its address below `ACCOUNT`. */
  name: string;
  title: string;
  icon: ComponentType<{ size?: number }>;
  Page: LazyExoticComponent<ComponentType>;
}

export const SECTIONS: readonly Section[] = [
  {
    name: "profile",
    title: "Profile",
    icon: PersonIcon,
    Page: lazy(() => import("./ProfilePage.tsx")),
  },
  {
    name: "security",
    title: "Security",
    icon: ShieldLockIcon,
    Page: lazy(() => import("./SecurityPage.tsx")),
  },
  {
    name: "api-keys",
    title: "API keys",
    icon: KeyIcon,
    Page: lazy(() => import("./ApiKeysPage.tsx")),
  },
  {
    name: "verification",
    title: "Verification",
    icon: VerifiedIcon,
    Page: lazy(() => import("./VerificationPage.tsx")),
  },
  {
    name: "notifications",
    title: "Notifications",
    icon: BellIcon,
    Page: lazy(() => import("./NotificationsPage.tsx")),
  },
  {
    name: "subscription",
    title: "Subscription",
    icon: CreditCardIcon,
    Page: lazy(() => import("./SubscriptionPage.tsx")),
  },
];
