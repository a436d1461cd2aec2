import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryWatch } from './memory-watch.ts';

const mib = 1024 * 1024;

test('reports a process once when it is over its limit in two consecutive samples', () => {
  const sample = fc.record({ pid: fc.integer({ min: 1, max: 3 }), mb: fc.integer({ min: 98, max: 103 }) });
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 40 }), (samples) => {
      let reports = 0;
      const watch = createMemoryWatch(() => reports++);
      let run: { pid: number; length: number } = { pid: 0, length: 0 };
      for (const { pid, mb } of samples) {
        const isOver = mb > 100;
        run = { pid, length: isOver ? (run.pid === pid ? run.length : 0) + 1 : 0 };
        const before = reports;
        watch.look(pid, mb * mib, 100);
        expect(reports - before).toBe(run.length === 2 ? 1 : 0);
      }
    }),
  );
});
