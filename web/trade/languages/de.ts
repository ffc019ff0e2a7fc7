import { loadReasons } from "./reasons.ts";

loadReasons("de", () => import("./reasons/de.json"));

export { default } from "./de.json";
