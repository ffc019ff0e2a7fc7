import { RuleTester } from "eslint";
import tseslint from "typescript-eslint";
import { describe, it } from "vitest";
import { decimalText } from "./decimal-text.js";

RuleTester.describe = describe;
RuleTester.it = it;

const tester = new RuleTester({
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      projectService: { allowDefaultProject: ["*.ts*"] },
      tsconfigRootDir: import.meta.dirname,
    },
  },
});

const BIG = "declare class Big { toNumber(): number; toFixed(): string } declare const big: Big; ";
const ORDER = "declare const order: { price: string; count: number; time: bigint; any: any }; ";
const conversion = [{ messageId: "conversion" }];
const comparison = [{ messageId: "comparison" }];

tester.run("decimal-text", decimalText, {
  valid: [
    `${ORDER} Number(order.time);`,
    `${ORDER} order.count * 2 - -order.count;`,
    `${ORDER} order.count < 5;`,
    `${ORDER} order.price === "1";`,
    `${ORDER} order.price + " USD";`,
    `${ORDER} String(order.count);`,
  ],
  invalid: [
    { code: `${ORDER} Number(order.price);`, errors: conversion },
    { code: `${ORDER} parseFloat(order.price);`, errors: conversion },
    { code: `${ORDER} Number.parseFloat(order.price);`, errors: conversion },
    { code: `${ORDER} parseInt(order.price, 10);`, errors: conversion },
    { code: `${ORDER} +order.price;`, errors: conversion },
    { code: `${ORDER} Number(order.any);`, errors: conversion },
    { code: `${ORDER} order.any * 1;`, errors: conversion },
    { code: `${ORDER} order.price < "10";`, errors: comparison },
    { code: `${BIG} big.toNumber();`, errors: conversion },
    { code: `${BIG} Number(big);`, errors: conversion },
  ],
});
