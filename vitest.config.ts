import { defineConfig } from 'vitest/config';

/** Units share one process (`*.test.ts` beside the code); tests that start processes are isolated (`test/` folders). */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,apps,connectors,engines}/*/src/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'process',
          include: ['{packages,apps,connectors,engines}/*/test/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // The usual second is short for a busy machine; who waits goes on as soon as it can.
          expect: { poll: { timeout: 40_000 } },
          maxWorkers: 2,
          // After the units, which would make them slow.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
