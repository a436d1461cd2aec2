import { expect, test } from 'vitest';
import { createOutgoingFiles } from './outgoing-file.ts';

test('of one instance so many files are looked for at once, and other instances are not held up', async () => {
  const stuck = Promise.withResolvers<void>();
  let searches = 0;
  const deps = {
    paths: { uploads: import.meta.dirname },
    connectorPasses: { check: (pass: string) => ({ type: 'shop', instanceId: pass }), isTicket: () => false },
    uploads: {
      manifest: {
        async *newest() {
          searches++;
          await stuck.promise;
        },
      },
    },
  };
  const outgoingFile = createOutgoingFiles(deps as never);
  const open = (instance: string) =>
    outgoingFile(import.meta.filename, { authorization: `Bearer ${instance}` }).catch(({ code }: { code: string }) => code);
  const opened = Array.from({ length: 10 }, () => open('s1'));
  expect(await Promise.all(opened.slice(8))).toEqual(['queue_full', 'queue_full']);
  const other = open('s2');
  expect(searches).toBe(9);
  stuck.resolve();
  expect([...new Set(await Promise.all([...opened.slice(0, 8), other]))]).toEqual(['forbidden']);
  expect(await open('s1')).toBe('forbidden');
});
