import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { codeFor, redeem, registered } from './authorize.ts';
import { openToolserver } from './open-toolserver.ts';

test('suppresses the warning of the authorization library about the Node version, and no other', () => {
  const from = JSON.stringify(path.join(import.meta.dirname, '../src'));
  const script = `
    const { withoutRuntimeWarning } = await import(${from} + '/oauth/load-provider.ts');
    await import(${from} + '/start.ts');
    await withoutRuntimeWarning(async () => { await import(${from} + '/oauth/create-provider.ts'); console.warn('another'); });
    console.warn('later');`;
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, 'another\nlater\n']);
});

test('a client that signs in causes no warnings of the library', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const server = await openToolserver();
  const client = await registered(server);
  const { status } = await redeem(server, client, await codeFor(server, client));
  const said = warn.mock.calls;
  warn.mockRestore();
  expect([status, said]).toEqual([200, []]);
});
