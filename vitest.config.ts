import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { deepProperties, deepTimeouts } from './apps/cli/src/testing/deep-properties.ts';
import { retries } from './apps/cli/src/testing/retries.ts';
import { SlowFilesFirst } from './apps/cli/src/testing/slow-files-first.ts';

const cores = availableParallelism();
const isDeep = process.env['TEST_DEEP'] === '1';
const longer = isDeep ? deepTimeouts : 1;
const plugins = isDeep ? [deepProperties()] : [];

/**
 * Units (`*.test.ts` beside the code) and tests of whole processes (`test/` folders). Files share a few workers: a worker for each file would load
 * the service's modules again for each, which took a seventh of all CPU.
 */
export default defineConfig({
  test: {
    // One port that many would want; a test that is about the dashboard names its own.
    env: { SVC_DASHBOARD: 'off' },
    sequence: { sequencer: SlowFilesFirst },
    retry: retries(process.env),
    projects: [
      {
        plugins,
        test: {
          name: 'unit',
          include: [
            '{packages,apps,connectors,engines}/*/src/**/*.test.ts',
            'packages/device-gateway/app/src/**/*.test.ts',
            'apps/dashboard/app/src/**/*.test.ts',
          ],
          isolate: false,
          // Two in five of their seconds are waiting: for a timer, a socket, a child.
          maxWorkers: Math.ceil(Math.max(cores, 2) * 1.5),
          testTimeout: 60_000 * longer,
          expect: { poll: { timeout: 20_000 } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins,
        test: {
          name: 'process',
          include: ['{packages,apps,connectors,engines}/*/test/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          isolate: false,
          unstubEnvs: true,
          testTimeout: 120_000 * longer,
          hookTimeout: 120_000,
          // The usual second is short for a busy machine; who waits goes on as soon as it can.
          expect: { poll: { timeout: 40_000 } },
          // They wait for the programs they start about half of the time.
          maxWorkers: Math.max(cores, 2) * 2,
          // After the units, which would make them slow.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
