import { defineConfig } from "vitest/config";

export default defineConfig({
  // The lint rule's first test loads the TypeScript compiler, which takes its time on a busy machine.
  test: { testTimeout: 120_000 },
});
