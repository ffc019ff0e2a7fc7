import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { compressFiles } from "./build/compress.ts";

const root = import.meta.dirname;

/** Every folder of the workspace with an index.html is an application of its own. */
function applications(): Record<string, string> {
  const names = readdirSync(root).filter((name) => existsSync(resolve(root, name, "index.html")));
  return Object.fromEntries(names.map((name) => [name, resolve(root, name, "index.html")]));
}

/** Serves /config.json and the applications' deep links while developing, as the web server does in a build. */
function developmentServer(): Plugin {
  const config = {
    engineUrl: process.env.OPENSPOT_ENGINE_URL ?? "http://127.0.0.1:8090",
    restUrl: process.env.OPENSPOT_REST_URL ?? "http://127.0.0.1:3001",
    wsUrl: process.env.OPENSPOT_WS_URL ?? "ws://127.0.0.1:3002",
    positionsUrl: process.env.OPENSPOT_POSITIONS_URL ?? "http://127.0.0.1:3008",
    subscriptionsUrl: process.env.OPENSPOT_SUBSCRIPTIONS_URL ?? "http://127.0.0.1:3060",
  };
  return {
    name: "openspot-development-server",
    apply: "serve",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const path = (request.url ?? "").split("?")[0] ?? "";
        if (path === "/config.json") {
          response.setHeader("Content-Type", "application/json");
          response.end(JSON.stringify(config));
          return;
        }
        const application = Object.keys(applications()).find(
          (name) => path === `/${name}` || path.startsWith(`/${name}/`),
        );
        const isPage = application !== undefined && !/\.\w+$/.test(path);
        if (isPage) request.url = `/${application}/index.html`;
        next();
      });
    },
  };
}

export default defineConfig({
  root,
  appType: "mpa",
  plugins: [developmentServer(), compressFiles()],
  server: { host: "127.0.0.1", port: 3000, strictPort: true },
  build: {
    outDir: process.env.OPENSPOT_WEB_OUT ?? "dist",
    emptyOutDir: true,
    // The web server's policy allows no data: scripts or styles; fonts and pictures stay files too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    // One script: nearly all of it is libraries, which every page needs.
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      input: applications(),
      // Libraries mark components for servers; here everything runs in the browser.
      output: {
        codeSplitting: {
          // What every page needs of our own and of the components: one file is smaller than thirty.
          groups: [
            {
              name: "frame",
              // None of these has a style: the order of the styles would change with their files.
              test: /web\/lib\/(brand|errors|figures|language|preferences|store)\.ts|web\/lib\/components\/toasts\.tsx|octicons-react\/dist\/(renderOcticon|icons\/(Alert|Bell|Check|Question|Sliders|Sync|X)Icon)/,
            },
            {
              name: "components",
              test: /@mantine\/(core\/esm\/components\/(ActionIcon|Button|CloseButton|FocusTrap|Loader|Popover|Portal|Tooltip|Transition|UnstyledButton|Floating)\/|hooks\/)|@floating-ui/,
            },
          ],
        },
      },
      onwarn: (warning, warn) => warning.code !== "MODULE_LEVEL_DIRECTIVE" && warn(warning),
    },
  },
});
