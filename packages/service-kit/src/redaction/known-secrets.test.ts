import { mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { textInSlices } from './in-slices.ts';
import { createKnownSecrets } from './known-secrets.ts';

const secret = 'sk-live-0123456789abcdef';
const masked = '[redacted:secret]';

function open(env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const clock = createFakeClock();
  const secretsFile = path.join(folder.path, 'secrets.json');
  const instancesDir = path.join(folder.path, 'instances');
  const warnings: string[] = [];
  const known = createKnownSecrets({ values: ['service-token-1'], env, secretsFile, instancesDir }, clock, (message) =>
    warnings.push(message),
  );
  return { known, clock, secretsFile, instancesDir, warnings };
}

test('masks tokens and variables without a secrets or keys file', () => {
  const { known } = open({ SERVICE_API_KEY: secret, PLAIN: 'an ordinary value' });
  const text = known.redactor().text(`${secret}, service-token-1, an ordinary value`);
  expect(text).toBe(`${masked}, ${masked}, an ordinary value`);
});

test('a place that cannot be read is a fault for as long as that lasts', () => {
  const { known, instancesDir, clock } = open({ SERVICE_API_KEY: secret });
  writeFileSync(instancesDir, 'a file where a folder belongs');
  for (let asked = 0; asked < 3; asked++) expect(() => known.redactor()).toThrow(/No reply can be sent/);
  expect(known.fault()).toMatch(/No reply can be sent/);
  clock.advance(1001);
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
});

test('a fault names the file and the reason', () => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, '{');
  const message = `No reply can be sent: ${secretsFile} is not valid JSON, so secrets could not be masked. Fix that, and the next reply is sent.`;
  expect(() => known.redactor()).toThrow(expect.objectContaining({ code: 'internal', message, details: { cause: 'mask' } }));
  expect(known.fault()).toBe(message);
});

test('a fault ends with the first reply after the file is fixed', () => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, '{');
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  expect(known.redactor().text(secret)).toBe(masked);
  expect(known.fault()).toBeNull();
});

test.each([
  ['a value without quotes', `{"SERVICE": ${secret}}`],
  ['a missing comma', `{"A":"${secret}" "B":"x"}`],
  ['null', 'null'],
  ['a text', JSON.stringify(secret)],
])('the fault of an invalid secrets file (%s) shows none of its content', (_name, content) => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, content);
  expect(() => known.redactor()).toThrow(/secrets\.json/);
  for (let from = 0; from + 6 <= secret.length; from++) expect(known.fault()).not.toContain(secret.slice(from, from + 6));
});

test.each([
  ['a folder', (file: string) => mkdirSync(file), 'secrets.json is not a file'],
  ['a link to itself', (file: string) => symlinkSync(file, file), 'ELOOP'],
  [
    'larger than any list of secrets',
    (file: string) => writeFileSync(file, JSON.stringify({ A: 'x'.repeat(2 * 1024 * 1024) })),
    'contains more than 256 KiB of secrets',
  ],
])('a secrets file that is %s is a fault', (_name, make, why) => {
  const { known, secretsFile } = open();
  make(secretsFile);
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
  expect(known.fault()).toContain(why);
});

test('masks values within groups, and trims white space', () => {
  const { known, secretsFile } = open({ lower_case_token: ' from-the-environment\n' });
  writeFileSync(secretsFile, JSON.stringify({ group: { SERVICE: secret, list: ['another-value'] } }));
  expect(known.redactor().text(`${secret} another-value from-the-environment`)).toBe(`${masked} ${masked} ${masked}`);
});

test('does not mask a short value, and warns once', () => {
  const { known, warnings, clock } = open({ PIN_SECRET: 'test' });
  known.redactor();
  clock.advance(1001);
  expect(known.redactor().text('a test')).toBe('a test');
  expect(warnings).toEqual(['The value of PIN_SECRET is too short to be masked in replies.']);
});

test('tolerates a lone surrogate in a value', () => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, '{"ODD": "odd-value-\\ud800", "SERVICE": "sk-live-0123456789abcdef"}');
  expect(known.redactor().text(`${secret} odd-value-\ud800`)).toBe(`${masked} ${masked}`);
});

test('masks secret fields of a JSON value individually, in any order', () => {
  const { known, secretsFile } = open();
  const account = { type: 'service_account', client: { client_secret: 'GO-0123456789abcdef' }, private_key: 'MIIE-0123456789' };
  writeFileSync(secretsFile, JSON.stringify({ ACCOUNT: JSON.stringify(account) }));
  expect(known.redactor().known(JSON.stringify({ private_key: account.private_key, type: account.type }))).toBe(
    `{"private_key":"${masked}","type":"service_account"}`,
  );
  expect(known.redactor().known(account.client.client_secret)).toBe(masked);
});

test('masks a replaced value for another day', async () => {
  const { known, secretsFile, clock } = open();
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  expect(known.redactor().text(secret)).toBe(masked);
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: 'the-new-value-of-it' }));
  clock.advance(2000);
  expect(known.redactor().text(`${secret} the-new-value-of-it`)).toBe(`${masked} ${masked}`);
  clock.advance(24 * 60 * 60 * 1000);
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: 'the-newest-value-of-it' }));
  await expect.poll(() => known.redactor().text(secret)).toBe(secret); // its automaton is being rebuilt
});

test('masks a log line before the first reply, and rereads files once a minute', () => {
  const { known, secretsFile, clock } = open();
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  expect(known.line(`{"msg":"${secret}"}`)).toBe(`{"msg":"${masked}"}`);
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret, MORE: 'an-added-value' }));
  expect(known.line(`${secret} an-added-value`)).toBe(`${masked} an-added-value`);
  clock.advance(60_000);
  expect(known.line(`${secret} an-added-value`)).toBe(`${masked} ${masked}`);
});

test('masks log lines with what is known while the secrets file is invalid', () => {
  const { known, secretsFile } = open({ SERVICE_API_KEY: secret });
  writeFileSync(secretsFile, '{');
  expect(known.line(secret)).toBe(masked);
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
});

test('masks detected secrets in a log line, which stays one JSON line', () => {
  const { known } = open();
  const line = (msg: string) => `${JSON.stringify({ level: 'warn', time: 1, service: 'core', msg, more: 1 })}\n`;
  expect(known.line(line('GET https://x.io/?access_token=A1b2C3d4E5f6G7h8I9j0&a=1 failed'))).toBe(
    line('GET https://x.io/?access_token=[redacted:credential]&a=1 failed'),
  );
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA7bq3Jm9xY2Z5d0tL'.repeat(4)}`;
  const whole = known.line(line(key));
  expect(whole.endsWith('}\n')).toBe(true);
  expect(JSON.parse(whole)).toMatchObject({
    level: 'warn',
    time: 1,
    service: 'core',
    msg: expect.stringContaining('[redacted:private-key]'),
  });
  expect(whole).not.toContain('MIIEp');
  expect(known.line(`${key}\n`)).toBe('-----BEGIN RSA PRIVATE KEY-----[redacted:private-key]\n');
});

test('masks keys of instances and learned values from the next reply on', () => {
  const { known, instancesDir, clock } = open();
  expect(known.redactor().text('sk-svc-instance-key learned-value')).toBe('sk-svc-instance-key learned-value');
  known.learn(['learned-value']);
  known.learn(['learned-value']);
  expect(known.redactor().text('learned-value')).toBe(masked);
  mkdirSync(path.join(instancesDir, 'one'), { recursive: true });
  writeFileSync(
    path.join(instancesDir, 'one', 'keys.json'),
    JSON.stringify({ keys: [{ key: 'sk-svc-instance-key' }, null, {}] }),
  );
  clock.advance(1001);
  expect(known.redactor().text('sk-svc-instance-key')).toBe(masked);
});

test('masks the keys of a keys file, but not its names', () => {
  const { known, instancesDir } = open();
  mkdirSync(path.join(instancesDir, 'one'), { recursive: true });
  const keys = [{ key: 'sk-svc-instance-key', name: 'the-phone-of-anna' }, { key: 7 }];
  writeFileSync(path.join(instancesDir, 'one', 'keys.json'), JSON.stringify({ keys, label: 'a-label-of-it' }));
  expect(known.redactor().text('sk-svc-instance-key the-phone-of-anna a-label-of-it')).toBe(
    `${masked} the-phone-of-anna a-label-of-it`,
  );
});

test('rereads files after a second, not before', () => {
  const { known, secretsFile, clock } = open();
  expect(known.redactor().text(secret)).toBe(secret);
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  clock.advance(999);
  expect(known.redactor().text(secret)).toBe(secret);
  clock.advance(1);
  expect(known.redactor().text(secret)).toBe(masked);
});

test('masks a value of eight characters, warns of one of seven, and ignores an empty one', () => {
  const { known, warnings } = open({ A_KEY: 'eight-ch', B_KEY: 'seven-c', C_KEY: '', D_KEY: '  ' });
  expect(known.redactor().text('eight-ch seven-c')).toBe(`${masked} seven-c`);
  expect(warnings).toEqual(['The value of B_KEY is too short to be masked in replies.']);
});

test('ignores numbers in a secrets file', () => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, JSON.stringify({ A: [12_345_678, null] }));
  expect(known.redactor().text('12345678')).toBe('12345678');
});

test('masks a new secret within a second, even if the clock was set back by hours', () => {
  const { known, secretsFile, clock } = open();
  known.redactor();
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  clock.setBack(3_600_000);
  clock.advance(1000);
  expect(known.redactor().text(secret)).toBe(masked);
});

test('reads a file that replaced one of the same size and time', () => {
  const { known, secretsFile, clock } = open();
  const write = (file: string, value: string) => {
    writeFileSync(file, JSON.stringify({ SERVICE: value }));
    utimesSync(file, 1_700_000_000, 1_700_000_000);
  };
  write(secretsFile, secret.replace('live', 'test'));
  known.redactor();
  write(`${secretsFile}.new`, secret);
  renameSync(`${secretsFile}.new`, secretsFile);
  clock.advance(1001);
  expect(known.redactor().text(secret)).toBe(masked);
});

test('a secret named "keys" does not hide the others', () => {
  const { known, secretsFile } = open();
  writeFileSync(secretsFile, JSON.stringify({ keys: ['another-secret-1'], SERVICE: secret }));
  expect(known.redactor().text(`${secret} another-secret-1`)).toBe(`${masked} ${masked}`);
});

test('masks a learned secret in the log while the files cannot be read', () => {
  const { known, secretsFile, clock } = open();
  writeFileSync(secretsFile, JSON.stringify({ SERVICE: secret }));
  known.redactor();
  writeFileSync(secretsFile, '{');
  clock.advance(1001);
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
  known.learn(['learned-secret-1']);
  expect(known.line(`${secret} learned-secret-1 service-token-1`)).toBe(`${masked} ${masked} ${masked}`);
});

test('masks a number that is a secret, but not a setting that names a secret', () => {
  const { known } = open({ CARD_TOKEN: '12345678901234567890', SVC_STT_KEY_SECRET: 'NAME_OF_A_SECRET' });
  const json = known.mask.json({ n: JSON.parse('12345678901234567890'), name: 'NAME_OF_A_SECRET' });
  expect(json).toBe(`{"n":"${masked}","name":"NAME_OF_A_SECRET"}`);
});

test('masks responses while the list of secrets cannot be read', () => {
  const { known, secretsFile } = open({ SERVICE_API_KEY: secret });
  writeFileSync(secretsFile, '{');
  expect(() => known.redactor()).toThrow(/No reply can be sent/);
  expect(known.mask.json({ status: known.fault(), [secret]: secret })).not.toContain(secret);
});

test('masks a long response in the thread, including a value learned meanwhile', async () => {
  const { known } = open({ SERVICE_API_KEY: secret });
  onTestFinished(() => known.close());
  const json = JSON.stringify({ text: `${'plain words '.repeat(25_000)} ${secret} a-later-known-value`, [secret]: [1] });
  const masking = known.mask.longJsonText(json);
  known.learn(['a-later-known-value']);
  const left = JSON.stringify({ text: `${'plain words '.repeat(25_000)} ${masked} ${masked}`, [masked]: [1] });
  expect(await masking).toBe(left);
  expect(await textInSlices(known.redactor(), json)).toBe(left);
  expect(known.threadFault()).toBeNull();
});

test('reads a long list of devices, whose digests are not secret and whose tokens are', () => {
  const { known, instancesDir } = open();
  mkdirSync(path.join(instancesDir, 'device'), { recursive: true });
  const keys = Array.from({ length: 3000 }, (_, n) => ({
    device_id: `d_${n}`,
    token_sha256: 'a'.repeat(64),
    name: `Device ${n}`,
  }));
  const written = [...keys, { token: 'a-token-that-was-typed', identity: 'ann' }];
  writeFileSync(path.join(instancesDir, 'device', 'keys.json'), JSON.stringify({ keys: written }));
  expect(known.redactor().text('a-token-that-was-typed of Device 7')).toBe('[redacted:secret] of Device 7');
});
