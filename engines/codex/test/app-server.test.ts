import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { startAppServer } from '../src/app-server.ts';

/** A program that answers a call with what it is answered to a question of its own. */
const asking = `#!/usr/bin/env node
let call;
const write = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === 'initialize') write({ id, result: {} });
  else if (method === 'ask') write({ id: 'question', method: 'item/x/requestApproval', params: { threadId: (call = id, 't') } });
  else if (id === 'question') write({ id: call, result });
});
`;

test('the end of an abandoned turn leaves the questions of the next one with that turn', async () => {
  const folder = temporaryFolder();
  const program = path.join(folder.path, 'codex.cjs');
  writeFileSync(program, asking);
  chmodSync(program, 0o755);
  const log = { debug() {}, info() {}, warn() {} };
  const env = { PATH: process.env.PATH ?? '' };
  const server = await startAppServer({ program, env, cwd: folder.path, log, maxLine: 1000, catalog: 'none' });
  onTestFinished(async () => {
    await server.kill();
    folder.remove();
  });
  const endAbandoned = server.answerFor('t', async () => ({ by: 'the abandoned turn' }));
  const end = server.answerFor('t', async () => ({ by: 'the next turn' }));
  endAbandoned();
  expect(await server.request('ask', {})).toEqual({ by: 'the next turn' });
  end();
  expect(await server.request('ask', {})).toEqual({ decision: 'decline' });
});
