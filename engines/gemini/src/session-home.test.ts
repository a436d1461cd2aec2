import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { furnishHome, knownHome, newHome, sessionsDir, sideDir, sweep } from './session-home.ts';

test('sweep() removes secrets and files of a killed turn, and keeps the session', async () => {
  const folder = temporaryFolder();
  const stateDir = folder.path;
  onTestFinished(() => folder.remove());
  mkdirSync(sessionsDir(stateDir), { recursive: true });
  const server = { name: 's', type: 'http', url: 'http://a', headers: { Authorization: 'Bearer x' }, safe: true } as const;
  const request = engineRequest({ prompt: 'hi', cwd: stateDir, toolPolicy: 'full', toolServers: [server] });
  const home = newHome(stateDir, request);
  await furnishHome(home, request, undefined);
  const settings = path.join(home.dir, '.gemini/settings.json');
  const session = path.join(home.dir, '.gemini/session.json');
  writeFileSync(session, '{}');
  mkdirSync(home.filesDir);
  mkdirSync(path.join(sideDir(stateDir), randomUUID()), { recursive: true });
  expect(existsSync(settings)).toBe(true);
  await sweep(stateDir);
  expect([settings, home.filesDir, sideDir(stateDir), session].map(existsSync)).toEqual([false, false, false, true]);
});

test.each(['latest', '1', '', '.', '../..', randomUUID()])('rejects %j as a session id', (id) => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  mkdirSync(path.join(sessionsDir(folder.path), 'latest'), { recursive: true });
  expect(knownHome(folder.path, id)).toBeNull();
});
