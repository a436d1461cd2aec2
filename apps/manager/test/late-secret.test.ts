import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openRealManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

/** A program for secrets that shows what it is asked for and answers when the test says so. */
function openSafe() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const at = (name: string) => path.join(folder.path, name);
  const script = `touch "${at('asked-')}$1"; while [ ! -f "${at('given-')}$1" ]; do sleep 0.02; done; echo "value-of-$1"`;
  writeFileSync(at('program'), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return {
    program: at('program'),
    asked: (name: string) =>
      eventually(
        () => existsSync(at(`asked-${name}`)),
        (isThere) => isThere,
      ),
    give: (name: string) => writeFileSync(at(`given-${name}`), ''),
  };
}

test('a secret that arrives late is not given to the next process of the instance, which asked for another', async () => {
  const safe = openSafe();
  const manager = await openRealManager({ SVC_SECRETS_COMMAND: safe.program });
  onTestFinished(manager.close);
  const config = (name: string) => ({ room: 'r', behaviour: 'secret', token_secret: name, wanted_secret: name });
  const said = async () => {
    const { body } = await manager.call('GET', '/instances/sample/logs');
    return (body['logs'] as { text: string }[]).map(({ text }) => text);
  };

  const created = manager.call('POST', '/instances', { type: 'sample', name: 's', enabled: true, config: config('OLD_ONE') });
  await safe.asked('OLD_ONE');
  const changed = manager.call('PATCH', '/instances/sample', { config: config('NEW_ONE') });
  await safe.asked('NEW_ONE');
  // Known to be late: the new process has asked, and its answer comes after this one.
  safe.give('OLD_ONE');
  await eventually(
    () => manager.context.supervisor.mask('value-of-OLD_ONE'),
    (masked) => masked.includes('redacted'),
  );
  safe.give('NEW_ONE');
  await Promise.all([created, changed]);
  const lines = await eventually(said, (texts) => texts.some((text) => text.startsWith('got')));
  expect(lines.filter((text) => text.startsWith('got'))).toEqual(['got [redacted:secret]']);
});
