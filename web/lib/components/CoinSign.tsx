import { useState } from "react";
import classes from "./CoinSign.module.css";

/**
 * The picture of a coin, or a round sign with its first letter if it has none; its name stands beside it.
 *
 * The picture is drawn as an image, in which a browser runs no script.
 */
export function CoinSign({ asset, logo }: { asset: string; logo: string }) {
  const [missing, setMissing] = useState("");
  if (logo === "" || logo === missing)
    return <span className={classes.sign} data-letter={asset.slice(0, 1)} aria-hidden />;
  return (
    <img
      className={classes.picture}
      src={`/brand/coins/${logo}`}
      alt=""
      onError={() => {
        setMissing(logo);
      }}
    />
  );
}
