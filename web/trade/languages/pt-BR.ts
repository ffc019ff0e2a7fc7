import { loadReasons } from "./reasons.ts";

loadReasons("pt-BR", () => import("./reasons/pt-BR.json"));

export { default } from "./pt-BR.json";
