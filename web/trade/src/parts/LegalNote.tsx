import { useBrand } from "#lib/brand.ts";
import { t } from "#lib/language.ts";
import classes from "./PageLink.module.css";

/** What somebody accepts with an account, if the operator publishes any such text. */
export function LegalNote() {
  const { legal } = useBrand();
  if (legal.length === 0) return null;
  return (
    <div>
      {t("With an account you accept:")}{" "}
      {legal.map(({ title, url }, at) => (
        <span key={url}>
          {at > 0 && ", "}
          <a className={classes.link} href={url} target="_blank" rel="noreferrer">
            {title}
          </a>
        </span>
      ))}
      .
    </div>
  );
}
