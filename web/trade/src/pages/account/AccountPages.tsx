import { Button, Menu } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";
import { Suspense } from "react";
import { Link, Redirect, useLocation } from "wouter";
import { t } from "#lib/language.ts";
import { Loading } from "../../parts/Loading.tsx";
import NotFoundPage from "../NotFoundPage.tsx";
import classes from "./AccountPages.module.css";
import { ACCOUNT, type Section, SECTIONS } from "./sections.ts";

/** The pages of the account, beside a list of them; on a phone the list is a menu. */
export default function AccountPages() {
  const [location] = useLocation();
  const name = location.slice(ACCOUNT.length + 1).replace(/\/$/, "");
  const section = SECTIONS.find((known) => known.name === name);
  if (name === "" && SECTIONS[0]) return <Redirect to={`${ACCOUNT}/${SECTIONS[0].name}`} replace />;
  if (!section) return <NotFoundPage />;
  return (
    <div className={classes.page}>
      <nav className={classes.side} aria-label={t("Account")}>
        <ul>
          {SECTIONS.map(({ name: path, title, icon: Icon }) => (
            <li key={path}>
              <Link
                href={`${ACCOUNT}/${path}`}
                className={classes.entry}
                aria-current={path === name ? "page" : undefined}
              >
                <Icon size={16} />
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <SectionMenu current={section} />
      <div className={classes.content}>
        <Suspense fallback={<Loading />}>
          <section.Page />
        </Suspense>
      </div>
    </div>
  );
}

function SectionMenu({ current }: { current: Section }) {
  return (
    <div className={classes.menu}>
      <Menu width="target" position="bottom-start">
        <Menu.Target>
          <Button
            variant="default"
            fullWidth
            classNames={{ label: classes.current ?? "" }}
            leftSection={<current.icon size={16} />}
            rightSection={<ChevronDownIcon />}
            aria-label={t("Account page: {title}, choose another", { title: current.title })}
          >
            {current.title}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {SECTIONS.map(({ name, title, icon: Icon }) => (
            <Menu.Item
              key={name}
              component={Link}
              href={`${ACCOUNT}/${name}`}
              leftSection={<Icon size={16} />}
              aria-current={name === current.name ? "page" : undefined}
            >
              {title}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
