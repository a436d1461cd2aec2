import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openDevices } from './devices.ts';

function open(text?: string, mode = 0o600) {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'keys.json');
  if (text !== undefined) writeFileSync(file, text, { mode });
  const clock = createFakeClock();
  const logs: string[] = [];
  const reopen = () => openDevices({ file, clock, log: (_level, message) => void logs.push(message) });
  return { file, clock, logs, reopen, devices: reopen() };
}
const handwritten = (entry: object) => JSON.stringify({ keys: [entry] });

test('a paired device is recognized by its token, also after a restart, and the file contains no token', () => {
  const { devices, reopen, file } = open();
  const { device_id: id } = devices.add('Phone');
  expect(devices.byToken('')).toBeNull();
  const { token } = devices.pair(id, 'Android');
  expect(token).toMatch(/^svcd_[\w-]{43}$/);
  expect(readFileSync(file, 'utf8')).not.toContain(token.slice(5));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(reopen().byToken(token)).toMatchObject({ device_id: id, identity: id, name: 'Phone', platform: 'Android' });
  expect(reopen().byToken(`${token}x`)).toBeNull();
});

test('pairing again issues a new token and revokes the old one', () => {
  const { devices } = open();
  const { device_id: id } = devices.add('Phone');
  const first = devices.pair(id, null).token;
  const second = devices.pair(id, null).token;
  expect([devices.byToken(first), devices.byToken(second)?.device_id]).toEqual([null, id]);
  devices.remove(id);
  expect(devices.byToken(second)).toBeNull();
});

test('a token written by hand is accepted, and replaced by its digest', () => {
  const { devices, file } = open(handwritten({ token: 'a-token-of-an-old-phone', identity: 'ann', username: 'Ann' }));
  expect(devices.byToken('a-token-of-an-old-phone')).toMatchObject({ device_id: 'ann', identity: 'ann', name: 'Ann' });
  expect(readFileSync(file, 'utf8')).not.toContain('old-phone');
  expect(devices.byToken('a-token-of-an-old-phone')).not.toBeNull();
});

test('creates the folder of the file with the first device, or says that it cannot', () => {
  const { file, clock } = open('a file, which holds no folder');
  const at = (...names: string[]) => openDevices({ file: path.join(...names), clock, log: () => undefined });
  const folder = path.join(path.dirname(file), 'deep/down');
  const { device_id: id } = at(folder, 'keys.json').add('Phone');
  expect(at(folder, 'keys.json').find(id)?.name).toBe('Phone');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(path.dirname(file), { recursive: true });
  symlinkSync('nowhere', path.dirname(file));
  expect(() => at(file).add('Phone')).toThrow(`the folder ${path.dirname(file)} does not exist. Create it first.`);
});

test('a new device has only harmless capabilities, and the owner can add others', () => {
  const { devices, reopen, file } = open();
  const { device_id: id, allowed } = devices.add('Phone');
  expect(allowed).toEqual(['notify', 'vibrate', 'wake_lock']);
  devices.allow(id, 'geolocation');
  devices.allow(id, 'geolocation');
  devices.deny(id, 'notify');
  devices.deny(id, 'never-allowed');
  expect(reopen().find(id)?.allowed).toEqual(['vibrate', 'wake_lock', 'geolocation']);
  for (let n = 3; n < 64; n++) devices.allow(id, `thing_${n}`);
  expect(() => devices.allow(id, 'one_more')).toThrow(/64/);
  expect(() => devices.allow('d_unknown', 'geolocation')).toThrow(/d_unknown/);
  rmSync(file);
  writeFileSync(file, '{', { mode: 0o600 });
  expect(() => devices.allow(id, 'geolocation')).toThrow(/lets nobody in/);
});

test('a device written by hand has the harmless capabilities unless its entry lists others', () => {
  const line = { token: '0123456789abcdef', identity: 'ann' };
  expect(open(handwritten(line)).devices.find('ann')?.allowed).toEqual(['notify', 'vibrate', 'wake_lock']);
  expect(open(handwritten({ ...line, allowed: [] })).devices.find('ann')?.allowed).toEqual([]);
});

test.each([
  [
    'has words for capabilities that are none',
    handwritten({ identity: 'ann', token: '0123456789abcdef', allowed: ['Open URL'] }),
  ],
  ['is no JSON', '{"keys":['],
  ['has no list', '{}'],
  ['has a device without a token', handwritten({ identity: 'ann' })],
  ['has a short token', handwritten({ identity: 'ann', token: 'short' })],
  ['has half a character in a name', '{"keys":[{"identity":"\\ud800","token":"0123456789abcdef"}]}'],
  ['gives two devices one id', JSON.stringify({ keys: [1, 2].map((n) => ({ identity: 'ann', token: `0123456789abcdef${n}` })) })],
])('a file that %s admits no device, is reported, and is not overwritten', (_what, text) => {
  const { devices, file, logs } = open(text);
  expect(devices.list()).toEqual([]);
  expect(devices.problem()).toContain('The keys file lets nobody in');
  expect(devices.problem()).not.toContain('0123456789abcdef');
  expect(() => devices.add('Phone')).toThrow('The keys file lets nobody in');
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(logs).toHaveLength(1);
});

test('a file that others can read, or a symbolic link, admits no device', () => {
  const { devices, file, clock, reopen } = open(handwritten({ identity: 'ann', token: '0123456789abcdef' }), 0o644);
  expect([devices.byToken('0123456789abcdef'), devices.problem()]).toEqual([null, expect.stringContaining('0600')]);
  chmodSync(file, 0o600);
  clock.advance(1000);
  expect(devices.byToken('0123456789abcdef')).not.toBeNull();
  rmSync(file);
  symlinkSync('/etc/hostname', file);
  expect(reopen().problem()).toContain('ELOOP');
});

test('edits by hand apply within a second, and later changes keep them', () => {
  const { devices, file, clock } = open();
  const ann = devices.add('Ann');
  devices.add('Bob');
  const { token } = devices.pair(ann.device_id, null);
  const edited = JSON.parse(readFileSync(file, 'utf8')) as { keys: { name: string }[] };
  writeFileSync(file, JSON.stringify({ keys: edited.keys.filter(({ name }) => name !== 'Ann') }));
  clock.advance(1000);
  expect(devices.byToken(token)).toBeNull();
  devices.add('Eve');
  expect(devices.list().map(({ name }) => name)).toEqual(['Bob', 'Eve']);
});

test('recording a visit does not restore a device that was removed by hand', () => {
  const { devices, clock, file } = open();
  const [ann, bob] = [devices.add('Ann'), devices.add('Bob')];
  const { token } = devices.pair(ann.device_id, null);
  clock.advance(6 * 60_000);
  expect(devices.byToken(token)).not.toBeNull();
  const edited = JSON.parse(readFileSync(file, 'utf8')) as { keys: { name: string }[] };
  writeFileSync(file, JSON.stringify({ keys: edited.keys.filter(({ name }) => name !== 'Ann') }));
  devices.seen(bob.device_id);
  const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys: object[] };
  expect(keys).toEqual([expect.objectContaining({ name: 'Bob', last_seen_at: clock.now() })]);
  expect(devices.byToken(token)).toBeNull();
});

test('records visits at intervals, and rejects a duplicate name', () => {
  const { devices, clock, file } = open();
  const { device_id: id } = devices.add('Phone');
  devices.pair(id, null);
  const before = readFileSync(file, 'utf8');
  devices.seen(id);
  expect(readFileSync(file, 'utf8')).toBe(before);
  clock.advance(6 * 60_000);
  devices.seen(id);
  expect(devices.find(id)?.last_seen_at).toBe(clock.now());
  expect(() => devices.add('Phone')).toThrow('There is already a device "Phone"');
  expect(existsSync(`${file}.${process.pid}.tmp`)).toBe(false);
});
