import { statSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { openTestCollector } from './open-test-collector.ts';

test('what was written moves from the log into the database beside the work, and the log shrinks again', async () => {
  const collector = openTestCollector();
  const size = (name: string) => statSync(path.join(collector.dataDir, name)).size;
  try {
    const megabyte = Array.from({ length: 50 }, () => ({ kind: 'x', text: 'x'.repeat(20_000) }));
    for (let i = 0; i < 20; i++) await collector.ingest(megabyte);
    await vi.waitFor(() => expect(size('collector.db')).toBeGreaterThan(15_000_000), { timeout: 10_000 });
    await vi.waitFor(
      async () => {
        await collector.ingest({ kind: 'x' });
        expect(size('collector.db-wal')).toBeLessThan(10_000_000);
      },
      { timeout: 10_000 },
    );
  } finally {
    await collector.close();
  }
});
