import { expect, onTestFinished, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openKitManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

test('the value of an exclusive secret is given to one running instance, whatever its name, and to the next when that has stopped', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const program = path.join(folder.path, 'program');
  writeFileSync(program, '#!/bin/sh\necho the-same-token\n', { mode: 0o700 });
  const manager = await openKitManager({ SVC_SECRETS_COMMAND: program });
  onTestFinished(manager.close);
  const add = (name: string) =>
    manager.call('POST', '/instances', { type: 'postbox', name, enabled: true, config: { token_secret: `TOKEN_${name}` } });
  const stateOf = async (id: string) => {
    const { body } = await manager.call('GET', `/instances/${id}`);
    return body['instance'] as { status: string; last_exit: { reason: string } | null };
  };
  await add('one');
  await add('two');
  const refused = await eventually(
    () => stateOf('postbox-2'),
    ({ last_exit }) => last_exit !== null,
  );
  expect(refused.status).not.toBe('running');
  expect(refused.last_exit?.reason).toContain('The instance "postbox" uses the value of "TOKEN_two" already.');
  expect((await stateOf('postbox')).status).toBe('running');
  await manager.call('POST', '/instances/postbox/stop');
  await manager.call('POST', '/instances/postbox-2/restart');
  await eventually(
    () => stateOf('postbox-2'),
    ({ status }) => status === 'running',
  );
});
