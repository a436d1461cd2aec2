import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openTestDb } from '../../test/open-test-db.ts';
import { openObservedStore, type NewObserved } from './observed-store.ts';

async function open() {
  const clock = createFakeClock();
  const { db, again } = openTestDb();
  return { clock, again: async () => openObservedStore(await again(), clock), observed: await openObservedStore(db(), clock) };
}

const seen = (text: string, over: Partial<NewObserved> = {}): NewObserved => ({ sender: 'Anna', tier: 'KNOWN', text, ...over });
const key = 'chatroom:c1:channel:1';

test('messages are stored with their files, in order, for each conversation', async () => {
  const { observed, clock } = await open();
  const attachments = [{ path: '/data/uploads/a.png', name: 'a.png', mime: 'image/png' }];
  await observed.add(key, seen('one', { attachments }));
  await observed.add('another', seen('elsewhere'));
  await observed.add(key, seen('two'));
  const at = clock.now();
  expect(await observed.list(key)).toMatchObject([
    { sender: 'Anna', text: 'one', attachments, at, gone: 0 },
    { sender: 'Anna', text: 'two', attachments: [], at, gone: 0 },
  ]);
});

test('messages survive a restart', async () => {
  const { observed, again } = await open();
  await observed.add(key, seen('one'));
  expect(await (await again()).list(key)).toHaveLength(1);
});

describe('id of an observed message', () => {
  test('is stored once for each conversation, and later ones are ignored', async () => {
    const { observed, again } = await open();
    await Promise.all([
      observed.add(key, seen('one', { message_id: 'm1' })),
      observed.add(key, seen('two', { message_id: 'm1' })),
    ]);
    await observed.add(key, seen('three', { message_id: 'm1' }));
    await (await again()).add(key, seen('four', { message_id: 'm1' }));
    expect((await (await again()).list(key)).map(({ text }) => text)).toEqual(['one']);
  });

  test('is ignored even after a turn has used its message', async () => {
    const { observed } = await open();
    await observed.add(key, seen('one', { message_id: 'm1' }));
    await observed.clear(key, Number.MAX_SAFE_INTEGER);
    await observed.add(key, seen('one', { message_id: 'm1' }));
    expect(await observed.list(key)).toEqual([]);
  });

  test('is scoped to its conversation, and messages without one are all stored', async () => {
    const { observed } = await open();
    await observed.add(key, seen('one', { message_id: 'm1' }));
    await observed.add('another', seen('two', { message_id: 'm1' }));
    await observed.add(key, seen('three'));
    await observed.add(key, seen('three'));
    expect(await observed.list(key)).toHaveLength(3);
    expect(await observed.list('another')).toHaveLength(1);
  });
});

describe('limits of observed messages', () => {
  test('keep the newest 50, and the oldest of them counts the dropped ones and their times', async () => {
    const { observed, clock } = await open();
    const start = clock.now();
    for (let n = 1; n <= 120; n++) {
      await observed.add(key, seen(`n${n}`));
      clock.advance(1000);
    }
    const kept = await observed.list(key);
    expect(kept.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, (_, index) => `n${index + 71}`));
    expect(kept[0]).toMatchObject({ gone: 70, gone_since: start, gone_until: start + 69_000 });
    expect(kept.slice(1).every(({ gone }) => gone === 0)).toBe(true);
  });

  test('apply to concurrent messages too', async () => {
    const { observed } = await open();
    await Promise.all(Array.from({ length: 75 }, (_, index) => observed.add(key, seen(`n${index}`))));
    const kept = await observed.list(key);
    expect([kept.length, kept.reduce((sum, { gone }) => sum + gone, 0)]).toEqual([50, 25]);
  });

  test('truncate a text to 4,000 characters', async () => {
    const { observed } = await open();
    await observed.add(key, seen(`${'x'.repeat(3999)}😀`));
    expect((await observed.list(key))[0]?.text).toBe('x'.repeat(3999));
  });
});

test('messages that a turn has used are cleared, and later ones stay', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one'));
  const [first] = await observed.list(key);
  await observed.add(key, seen('two'));
  await observed.clear(key, first?.id ?? 0);
  expect((await observed.list(key)).map(({ text }) => text)).toEqual(['two']);
});

test('later messages stay even when the used one was deleted meanwhile', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one', { message_id: 'm1' }));
  const [used] = await observed.list(key);
  await observed.amend(used?.id ?? 0, null, 1);
  await observed.add(key, seen('two'));
  await observed.clear(key, used?.id ?? 0);
  expect((await observed.list(key)).map(({ text }) => text)).toEqual(['two']);
});

test('a message added while the list is read is in the next list', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one'));
  await observed.clear(key, Number.MAX_SAFE_INTEGER);
  const [before] = await Promise.all([observed.list(key), observed.add(key, seen('two'))]);
  expect([before.length, (await observed.list(key)).length]).toEqual([0, 1]);
});
