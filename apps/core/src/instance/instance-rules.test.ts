import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openInstanceRules } from './instance-rules.ts';

function open(text?: string) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'instance-rules.json');
  if (text !== undefined) writeFileSync(file, text);
  const said: unknown[] = [];
  const start = () =>
    openInstanceRules({
      file,
      instanceOfKey: () => null,
      clock: createFakeClock(),
      log: { error: (...all: unknown[]) => void said.push(all) } as never,
    });
  return { file, start, said };
}

test('rules apply to the instances in the file; other instances and built-in channels have none', () => {
  const rules = open('{"a":{"public":true,"allow":["ann"]}}').start();
  expect([rules.of('a'), rules.of('b'), rules.of(null)]).toEqual([{ public: true, allow: ['ann'] }, {}, {}]);
  expect(open().start().of('a')).toEqual({});
});

test('a change applies from the next reload, and is reported once', async () => {
  const { file, start } = open();
  const rules = start();
  let changes = 0;
  rules.onChange(() => changes++);
  writeFileAtomic(file, '{"a":{"engine":"codex"}}');
  await rules.reload();
  expect(rules.of('a')).toEqual({ engine: 'codex' });
  await rules.reload();
  expect(changes).toBe(1);
});

test('a missing file keeps the rules in force, and is reported until the manager writes it again', async () => {
  const { file, start } = open('{"a":{"allow":["ann"]}}');
  const rules = start();
  rmSync(file);
  await rules.reload();
  expect([rules.of('a'), rules.fault()]).toEqual([{ allow: ['ann'] }, expect.stringContaining('cannot be read')]);
  writeFileAtomic(file, '{"a":{}}');
  await rules.reload();
  expect([rules.of('a'), rules.fault()]).toEqual([{}, null]);
});

test('concurrent reloads run one after another, so that an older reading never replaces a newer one', async () => {
  const { file, start } = open();
  const rules = start();
  let changes = 0;
  rules.onChange(() => changes++);
  writeFileAtomic(file, '{"a":{"public":true}}');
  await Promise.all([rules.reload(), rules.reload()]);
  expect([rules.of('a'), changes]).toEqual([{ public: true }, 1]);
});

test.each(['', '{', '[]', 'null', '{"a":[]}', '{"a":{"public":"yes"}}', '{"a":{"allow":[]}}', '{"a":{"other":1}}'])(
  'a file containing %j at the start rejects connectors and reports why',
  async (text) => {
    const { file, start, said } = open(text);
    const rules = start();
    expect(() => rules.of('a')).toThrow('Connectors are refused');
    expect(rules.of(null)).toEqual({});
    expect(rules.fault()).toContain(file);
    await rules.reload();
    expect(said).toHaveLength(1);
    writeFileAtomic(file, '{"a":{"public":true}}');
    await rules.reload();
    expect([rules.of('a'), rules.fault()]).toEqual([{ public: true }, null]);
  },
);

test('a file that becomes unreadable keeps the rules in force', async () => {
  const { file, start } = open('{"a":{"public":true}}');
  const rules = start();
  writeFileAtomic(file, '{');
  await rules.reload();
  expect([rules.of('a'), rules.fault()]).toEqual([{ public: true }, expect.stringContaining('cannot be read')]);
  rmSync(file);
  mkdirSync(file);
  await rules.reload();
  expect(rules.of('a')).toEqual({ public: true });
});
