import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createWebAppBuilds } from './web-app-builds.ts';
import type { ConnectorType } from './find-types.ts';

const type = (fields: object, isAdded = false) => ({ meta: { type: 'device', ...fields }, isAdded }) as unknown as ConnectorType;

test('a failed web app build is logged without blocking, and other or added types build none', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const logs: string[] = [];
  const log = { info: () => undefined, warn: (fields: { error?: unknown }) => void logs.push(String(fields.error)) };
  const builds = createWebAppBuilds({ settings: { root: folder.path }, env: {}, registry: null, log: log as never });
  await Promise.all([builds.ensure(type({})), builds.ensure(type({ webApp: true }, true))]);
  expect(logs).toEqual([]);
  await Promise.all([builds.ensure(type({ webApp: true })), builds.ensure(type({ webApp: true }))]);
  expect(logs).toEqual([expect.stringMatching(/\S/)]);
});
