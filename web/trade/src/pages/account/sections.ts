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
    get name() {
      return t("profile");
    },
    get title() {
      return t("Profile");
    },
    icon: PersonIcon,
    Page: lazy(() => import("./ProfilePage.tsx")),
  },
  {
    get name() {
      return t("security");
    },
    get title() {
      return t("Security");
    },
    icon: ShieldLockIcon,
    Page: lazy(() => import("./SecurityPage.tsx")),
  },
  {
    get name() {
      return t("api-keys");
    },
    get title() {
      return t("API keys");
    },
    icon: KeyIcon,
    Page: lazy(() => import("./ApiKeysPage.tsx")),
  },
  {
    get name() {
      return t("verification");
    },
    get title() {
      return t("Verification");
    },
    icon: VerifiedIcon,
    Page: lazy(() => import("./VerificationPage.tsx")),
  },
  {
    get name() {
      return t("notifications");
    },
    get title() {
      return t("Notifications");
    },
    icon: BellIcon,
    Page: lazy(() => import("./NotificationsPage.tsx")),
  },
  {
    get name() {
      return t("subscription");
    },
    get title() {
      return t("Subscription");
    },
    icon: CreditCardIcon,
    Page: lazy(() => import("./SubscriptionPage.tsx")),
  },
];
