import { loadReasons } from "./reasons.ts";

loadReasons("es", () => import("./reasons/es.json"));

export { default } from "./es.json";
