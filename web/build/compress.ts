import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Files that shrink; fonts (woff2) and pictures are compressed already. */
const COMPRESSIBLE = /\.(css|html|js|json|svg|txt|webmanifest)$/;

/** Writes a .br and a .gz beside each file that shrinks, for the web server to choose from. */
export function compressFiles(): Plugin {
  let folder = "";
  return {
    name: "openspot-compress-files",
    apply: "build",
    configResolved(config) {
      folder = config.build.outDir;
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!COMPRESSIBLE.test(name)) continue;
        const path = join(folder, name);
        const content = readFileSync(path);
        const parameters = {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params: parameters }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
