import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // No unit test needs a page or changes what another one imports: the files share threads, and start at once.
    pool: "threads",
    isolate: false,
    // The lint rule's first test loads the TypeScript compiler, which takes its time on a busy machine.
    testTimeout: 120_000,
  },
});
