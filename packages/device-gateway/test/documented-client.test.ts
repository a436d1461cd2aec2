import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { SessionStreamFrame } from '@svc/connector-kit';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/devices.md'), 'utf8');
const [, code = ''] = /```js\n([^]*?)\n```/.exec(page) ?? [];

test('the documented client pairs, gets an answer, and connects again with its token', async () => {
  expect(code.split('\n').length).toBeLessThanOrEqual(60);
  const gateway = await openGateway();
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  writeFileSync(path.join(folder.path, 'client.mjs'), code);
  gateway.core().script = ({ envelope, result }) => {
    const { watches, turns } = gateway.core();
    const turn_id = `turn_${turns.length}`;
    const show = (seq: number, frame: object) =>
      watches
        .at(-1)
        ?.handlers.onFrame({ conversation_key: envelope.conversation_key, turn_id, seq, ...frame } as SessionStreamFrame);
    setImmediate(() => {
      show(1, { type: 'delta', text: 'you said: ' });
      show(2, { type: 'delta', text: envelope.content.text });
      show(3, { type: 'end', outcome: 'replied', text: '' });
    });
    return result();
  };
  const run = async (address: string, text: string) =>
    (await promisify(execFile)(process.execPath, ['client.mjs', address, text], { cwd: folder.path, timeout: 30_000 })).stdout;
  const { url } = await gateway.invite('Client');
  expect(await run(url, 'hello')).toBe('you said: hello');
  expect(await run(gateway.live().url!, 'again')).toBe('you said: again');
  expect(await gateway.listed()).toMatchObject([{ name: 'Client', state: 'paired', platform: 'client.mjs' }]);
});
