import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useBrand } from "#lib/brand.ts";
import { FormLayout } from "#lib/components/FormLayout.tsx";
import { Logo } from "#lib/components/Logo.tsx";
import { t } from "#lib/language.ts";
import { usePageHeading } from "#lib/pageTitle.ts";

interface AuthLayoutProps {
  title: string;
  text?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
}

/** A small page around one form: login, registration, and what mails lead to. */
export function AuthLayout({ title, ...rest }: AuthLayoutProps) {
  const heading = usePageHeading(title);
  const { name } = useBrand();
  return (
    <FormLayout
      mark={
        <Link href="/" aria-label={t("{name}, markets", { name })}>
          <Logo size={40} />
        </Link>
      }
      heading={
        <Title order={1} ref={heading} tabIndex={-1}>
          {title}
        </Title>
      }
      {...rest}
    />
  );
}
