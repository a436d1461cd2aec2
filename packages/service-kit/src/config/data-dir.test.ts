import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { dataPaths } from './data-dir.ts';

const deep = `/${'x'.repeat(120)}`;

test('the socket lies in the data folder, or where its path is short enough to be used', () => {
  expect(dataPaths('/srv/svc').coreSocket).toBe('/srv/svc/run/core.sock');
  vi.stubEnv('TMPDIR', '/var/tmp');
  expect(dataPaths(deep).coreSocket).toMatch(/^\/var\/tmp\/svc-\w+-\w+\/core\.sock$/);
  vi.stubEnv('TMPDIR', path.join(deep, 'tmp'));
  expect(dataPaths(deep).coreSocket).toMatch(/^\/tmp\/svc-\w+-\w+\/core\.sock$/);
  vi.unstubAllEnvs();
});
