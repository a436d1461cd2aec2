import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { dataPaths } from './data-dir.ts';

const deep = `/${'x'.repeat(120)}`;

test('the socket is in the data folder, or where its path is short enough', () => {
  expect(dataPaths('/srv/svc').coreSocket).toBe('/srv/svc/run/core.sock');
  vi.stubEnv('TMPDIR', '/var/tmp');
  expect(dataPaths(deep).coreSocket).toMatch(/^\/var\/tmp\/svc-\w+-\w+\/core\.sock$/);
  vi.stubEnv('TMPDIR', path.join(deep, 'tmp'));
  expect(dataPaths(deep).coreSocket).toMatch(/^\/tmp\/svc-\w+-\w+\/core\.sock$/);
  vi.unstubAllEnvs();
});
