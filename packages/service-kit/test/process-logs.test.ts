import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const inVariable = 'Cnry7Var2kQzLwXp';
const inFile = 'Cnry7Fil4mRtYbNc';
const ofVendor = 'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8';
const inAddress = 'https://joe:s3cr3t-Pa77@files.acme.io';

/** The output of a host process from its start to its end. Its log names variables that are not settings. */
async function outputOf(name: string): Promise<string> {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(path.join(folder.path, 'secrets.json'), JSON.stringify({ A: inFile }), { mode: 0o600 });
  const ports = await freePorts(4);
  const portOf = (i: number) => String(ports[i]);
  const child = fork(path.join(repositoryRoot, 'apps', name, 'src/main.ts'), {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOME: folder.path,
      SVC_DATA_DIR: folder.path,
      SVC_CORE_PORT: portOf(0),
      SVC_MANAGER_PORT: portOf(1),
      SVC_COLLECTOR_PORT: portOf(2),
      SVC_VAULT_PORT: portOf(3),
      SVC_DEFAULT_ENGINE: 'offline',
      SVC_LOG_LEVEL: 'trace',
      SOME_TOKEN: inVariable,
      [`SVC_${inVariable}`]: 'x',
      [`SVC_${inFile}`]: 'x',
      [`SVC_${ofVendor}`]: 'x',
      [`SVC_${inAddress}`]: 'x',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = once(child, 'close');
  await Promise.race([once(child, 'message'), closed]);
  child.kill('SIGTERM');
  await closed;
  return output;
}

test.each(['core', 'manager', 'collector', 'vault'])('R15: no log line of the %s holds a secret', async (name) => {
  const output = await outputOf(name);
  expect(output).toContain('is ready');
  const named = output.split('\n').filter((line) => line.includes('is not a setting'));
  expect(named.map((line) => (JSON.parse(line) as { msg: string }).msg.split(' ')[0] ?? '').toSorted()).toEqual([
    'SVC_[redacted:secret]',
    'SVC_[redacted:secret]',
    'SVC_[redacted:token]',
    'SVC_https://joe:[redacted:password]@files.acme.io',
  ]);
  for (const secret of [inVariable, inFile, ofVendor, 's3cr3t-Pa77']) expect(output).not.toContain(secret);
});
