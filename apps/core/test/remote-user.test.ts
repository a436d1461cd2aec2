import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const users = createRemoteUsers('s'.repeat(43));
const key = 'compat:c1:key';
let core: TestCore;
beforeEach(async () => {
  core = await openTestCore({ remoteUsers: users });
  await core.handle(envelope('hi'));
});
afterEach(() => core.close());

const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
  (await core.app.inject({ method: 'POST', url, payload, headers })).json() as Record<string, unknown>;

test('a claim uses the proven name of the user, whatever the request says', async () => {
  const claim = { conversation_key: key, by: 'the owner' };
  expect(await post('/v2/claim', claim, users.headersFor('anna'))).toMatchObject({ claimed_by: 'anna' });
  await post('/v2/release', { conversation_key: key });
  expect(await post('/v2/claim', claim, { 'remote-user': 'anna' })).toMatchObject({ claimed_by: 'the owner' });
});

test('an operator message uses the proven name of the user', async () => {
  await post('/v2/inject', { conversation_key: key, text: 'go on', by: 'the owner' }, users.headersFor('anna'));
  const asked = core.engine.requests.at(-1)?.prompt ?? '';
  expect(asked).toContain('anna');
  expect(asked).not.toContain('the owner');
});

test('the audit log of folders has the proven name of the user', async () => {
  const work = temporaryFolder();
  onTestFinished(work.remove);
  const set = (headers: Record<string, string>) =>
    core.app.inject({ method: 'PUT', url: '/v2/folders', payload: { cwd: work.path, tier: 'SACRED' }, headers });
  expect((await set(users.headersFor('anna'))).statusCode).toBe(200);
  const audit = await core.app.inject('/trust/audit?limit=1');
  expect(audit.json()).toMatchObject({ audit: [{ what: 'folder_set', actor: 'anna' }] });
});
