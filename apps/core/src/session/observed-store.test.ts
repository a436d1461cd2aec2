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

test('what was seen is kept with its files, in the order it came, each conversation for itself', async () => {
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

test('a restart forgets nothing of it', async () => {
  const { observed, again } = await open();
  await observed.add(key, seen('one'));
  expect(await (await again()).list(key)).toHaveLength(1);
});

describe('a message id', () => {
  test('is stored once in a conversation, the second one is ignored', async () => {
    const { observed, again } = await open();
    await Promise.all([
      observed.add(key, seen('one', { message_id: 'm1' })),
      observed.add(key, seen('two', { message_id: 'm1' })),
    ]);
    await observed.add(key, seen('three', { message_id: 'm1' }));
    await (await again()).add(key, seen('four', { message_id: 'm1' }));
    expect((await (await again()).list(key)).map(({ text }) => text)).toEqual(['one']);
  });

  test('is ignored also when a turn has used its message meanwhile', async () => {
    const { observed } = await open();
    await observed.add(key, seen('one', { message_id: 'm1' }));
    await observed.clear(key, Number.MAX_SAFE_INTEGER);
    await observed.add(key, seen('one', { message_id: 'm1' }));
    expect(await observed.list(key)).toEqual([]);
  });

  test('of another conversation is another message, and messages without one are all kept', async () => {
    const { observed } = await open();
    await observed.add(key, seen('one', { message_id: 'm1' }));
    await observed.add('another', seen('two', { message_id: 'm1' }));
    await observed.add(key, seen('three'));
    await observed.add(key, seen('three'));
    expect(await observed.list(key)).toHaveLength(3);
    expect(await observed.list('another')).toHaveLength(1);
  });
});

describe('bounds', () => {
  test('the newest 50 are kept, and the oldest of them says how many are gone and when they came', async () => {
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

  test('a flood at once is bounded and counted like any other', async () => {
    const { observed } = await open();
    await Promise.all(Array.from({ length: 75 }, (_, index) => observed.add(key, seen(`n${index}`))));
    const kept = await observed.list(key);
    expect([kept.length, kept.reduce((sum, { gone }) => sum + gone, 0)]).toEqual([50, 25]);
  });

  test('4,000 characters of a text are kept', async () => {
    const { observed } = await open();
    await observed.add(key, seen(`${'x'.repeat(3999)}😀`));
    expect((await observed.list(key))[0]?.text).toBe('x'.repeat(3999));
  });
});

test('what a turn has used is dropped, and what came since stays', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one'));
  const [first] = await observed.list(key);
  await observed.add(key, seen('two'));
  await observed.clear(key, first?.id ?? 0);
  expect((await observed.list(key)).map(({ text }) => text)).toEqual(['two']);
});

test('what came since stays also when what the turn has used was deleted meanwhile', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one', { message_id: 'm1' }));
  const [used] = await observed.list(key);
  await observed.amend(used?.id ?? 0, null, 1);
  await observed.add(key, seen('two'));
  await observed.clear(key, used?.id ?? 0);
  expect((await observed.list(key)).map(({ text }) => text)).toEqual(['two']);
});

test('a message that is added while the empty list is read is found by the next look', async () => {
  const { observed } = await open();
  await observed.add(key, seen('one'));
  await observed.clear(key, Number.MAX_SAFE_INTEGER);
  const [before] = await Promise.all([observed.list(key), observed.add(key, seen('two'))]);
  expect([before.length, (await observed.list(key)).length]).toEqual([0, 1]);
});
