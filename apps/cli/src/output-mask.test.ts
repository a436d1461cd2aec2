import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { createOutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openOutputMask, withoutSecrets } from './output-mask.ts';
import { repositoryRoot } from './repository-root.ts';

const [ofFile, ofEnv, ofCore] = ['Hx7pQ2mVd93kTzRw', 'Wq8eRt5yUi2oPa6s', 'Zx9cVb4nMq1wEr7t'];
/** Joined from two parts, so that scanners do not take it for a real token. */
const detected = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6'].join('_');

/** A stand-in for the core that knows one secret; `answers`: whether it is running. */
async function open({ answers = true } = {}) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(path.join(folder.path, 'secrets.json'), JSON.stringify({ A: ofFile }), { mode: 0o600 });
  const mask = createOutboundMask((text) => text.replaceAll(ofCore, '[redacted:secret]'));
  let asked = 0;
  const core = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      asked++;
      response.end(JSON.stringify({ masked: true, value: JSON.parse(mask.jsonText(body)) as unknown }));
    });
  });
  await new Promise<void>((resolve) => core.listen(0, '127.0.0.1', resolve));
  const { port } = core.address() as AddressInfo;
  const stop = () => (core.closeAllConnections(), new Promise((resolve) => core.close(resolve)));
  if (!answers) await stop();
  else onTestFinished(async () => void (await stop()));
  const env = { SVC_DATA_DIR: folder.path, SVC_CORE_PORT: String(port) };
  const settings = loadSettings(repositoryRoot, env);
  return { mask: openOutputMask({ settings, env: { MY_API_KEY: ofEnv }, clock: createFakeClock() }), asked: () => asked };
}

const spoken = [`{"level":"error","msg":"no ${ofFile}"}`, `Error: ${ofEnv} at x`, `${ofCore} and ${detected}`, 'plain words'];

test('lines are masked by local secrets, by those of the core, and by patterns', async () => {
  const { mask, asked } = await open();
  const lines = await mask.lines(spoken);
  expect(lines).toHaveLength(4);
  for (const secret of [ofFile, ofEnv, ofCore, detected]) expect(lines.join('\n')).not.toContain(secret);
  expect([JSON.parse(lines[0] ?? ''), lines[3]]).toEqual([{ level: 'error', msg: 'no [redacted:secret]' }, 'plain words']);
  expect(asked()).toBe(1);
});

test('lines are masked by local secrets and patterns when the core is unreachable', async () => {
  const { mask } = await open({ answers: false });
  const lines = (await mask.lines(spoken)).join('\n');
  for (const secret of [ofFile, ofEnv, detected]) expect(lines).not.toContain(secret);
  expect(lines).toContain(ofCore);
});

test('masking a value keeps its structure, numbers and other non-text values', async () => {
  const { mask } = await open();
  const value = { name: 'core', pid: 12_345_678, url: null, isUp: true, list: [`x ${ofFile}`], [ofEnv]: 1 };
  expect(await mask.value(value)).toEqual({
    name: 'core',
    pid: 12_345_678,
    url: null,
    isUp: true,
    list: ['x [redacted:secret]'],
    '[redacted:secret]': 1,
  });
});

test('many lines are sent to the core in batches, in order', async () => {
  const { mask, asked } = await open();
  const lines = Array.from({ length: 1201 }, (_, n) => `line ${n} ${ofFile}`);
  expect(await mask.lines(lines)).toEqual(lines.map((line) => line.replace(ofFile, '[redacted:secret]')));
  expect(asked()).toBe(3);
});

test('withoutSecrets() masks by patterns only', () => {
  const text = 'SVC_X is "http://me:hunter2hunter2@example.org". Give it another.';
  expect(withoutSecrets([{ text, n: 1 }])).toEqual([{ text: text.replace('hunter2hunter2', '[redacted:password]'), n: 1 }]);
});
