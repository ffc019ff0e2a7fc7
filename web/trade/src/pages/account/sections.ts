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
import { t } from "#lib/language.ts";

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
    get title() {
      return t("Profile");
    },
    icon: PersonIcon,
    Page: lazy(() => import("./ProfilePage.tsx")),
  },
  {
    name: "security",
    get title() {
      return t("Security");
    },
    icon: ShieldLockIcon,
    Page: lazy(() => import("./SecurityPage.tsx")),
  },
  {
    name: "api-keys",
    get title() {
      return t("API keys");
    },
    icon: KeyIcon,
    Page: lazy(() => import("./ApiKeysPage.tsx")),
  },
  {
    name: "verification",
    get title() {
      return t("Verification");
    },
    icon: VerifiedIcon,
    Page: lazy(() => import("./VerificationPage.tsx")),
  },
  {
    name: "notifications",
    get title() {
      return t("Notifications");
    },
    icon: BellIcon,
    Page: lazy(() => import("./NotificationsPage.tsx")),
  },
  {
    name: "subscription",
    get title() {
      return t("Subscription");
    },
    icon: CreditCardIcon,
    Page: lazy(() => import("./SubscriptionPage.tsx")),
  },
];
