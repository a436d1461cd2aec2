import { expect, onTestFinished, test } from 'vitest';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openKitManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

test('only one running instance gets the value of an exclusive secret, under any name, and the next one when it has stopped', async () => {
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
  expect(refused.last_exit?.reason).toContain('The instance "postbox" already uses the value of "TOKEN_two".');
  expect((await stateOf('postbox')).status).toBe('running');
  await manager.call('POST', '/instances/postbox/stop');
  await manager.call('POST', '/instances/postbox-2/restart');
  await eventually(
    () => stateOf('postbox-2'),
    ({ status }) => status === 'running',
  );
});

test('an instance stopped before its secret arrived does not keep the secret from others', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const at = (name: string) => path.join(folder.path, name);
  const script = `touch "${at('asked-')}$1"; while [ ! -f "${at('given-')}$1" ]; do sleep 0.02; done; echo the-same-token`;
  writeFileSync(at('program'), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  const manager = await openKitManager({ SVC_SECRETS_COMMAND: at('program') });
  onTestFinished(manager.close);
  const add = (name: string) =>
    manager.call('POST', '/instances', { type: 'postbox', name, enabled: true, config: { token_secret: `TOKEN_${name}` } });
  const isAsked = (name: string) =>
    eventually(
      () => existsSync(at(`asked-TOKEN_${name}`)),
      (isThere) => isThere,
    );

  const first = add('one');
  await isAsked('one');
  await manager.call('POST', '/instances/postbox/stop');
  await first;
  const second = add('two');
  await isAsked('two');
  // It has arrived once it is masked.
  writeFileSync(at('given-TOKEN_one'), '');
  await eventually(
    () => manager.context.supervisor.mask('the-same-token'),
    (masked) => masked.includes('redacted'),
  );
  writeFileSync(at('given-TOKEN_two'), '');
  await second;
  const { instance } = (await manager.call('GET', '/instances/postbox-2')).body as {
    instance: { status: string; reason: string };
  };
  expect(instance).toMatchObject({ status: 'running', reason: null });
});
