/**
 * Checks types and lint in one process: the lint rules ask the type checker that has checked the types, so the
 * sources are read and checked once. Prints what is wrong; the exit code is then 1.
 *
 * With `--own-rules` the rules of other people's presets are left out, which take most of the time: what remains are
 * the types, the rules of this house, and what eslint.config.js restricts.
 */
import { join } from "node:path";
import { ESLint } from "eslint";
import ts from "typescript";

const PRESETS = ["@typescript-eslint/", "react-hooks/"];
const hasOwnRulesAlone = process.argv.includes("--own-rules");
const web = join(import.meta.dirname, "..");
const format = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => web,
  getNewLine: () => "\n",
};

/** The program of tsconfig.json. Throws an Error if that file cannot be read. */
function programOf(path) {
  const configuration = ts.getParsedCommandLineOfConfigFile(path, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (fault) => {
      throw new Error(ts.formatDiagnostic(fault, format));
    },
  });
  return ts.createProgram({
    rootNames: configuration.fileNames,
    options: configuration.options,
    configFileParsingDiagnostics: configuration.errors,
  });
}

/** What eslint.config.js finds wrong, as text; empty if nothing. */
async function lintFaults(program) {
  const eslint = new ESLint({
    cwd: web,
    ruleFilter: ({ ruleId }) => !hasOwnRulesAlone || !PRESETS.some((preset) => ruleId.startsWith(preset)),
    overrideConfig: {
      files: ["**/*.ts", "**/*.tsx"],
      languageOptions: { parserOptions: { projectService: false, programs: [program] } },
    },
  });
  const formatter = await eslint.loadFormatter("stylish");
  return formatter.format(await eslint.lintFiles(["."]));
}

const program = programOf(join(web, "tsconfig.json"));
const typeFaults = ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), format);
const faults = typeFaults === "" ? await lintFaults(program) : typeFaults;
if (faults !== "") {
  console.log(faults);
  process.exitCode = 1;
}
