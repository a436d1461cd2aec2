import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openTestDb } from '../../test/open-test-db.ts';
import { openAnnouncements, type AnnouncementLimits, type Post } from './announcements.ts';

async function open(limits?: AnnouncementLimits) {
  const clock = createFakeClock();
  const { db, again } = openTestDb();
  return {
    clock,
    again: async () => openAnnouncements(await again(), clock, limits),
    stored: async () => (await db().get<{ n: number }>('SELECT COUNT(*) AS n FROM announcement'))?.n,
    removeAll: () => db().run('DELETE FROM announcement'),
    announcements: await openAnnouncements(db(), clock, limits),
  };
}

const note = (text: string, over: Partial<Post> = {}): Post => ({
  target: '*',
  text,
  priority: 'normal',
  from_session: '',
  ...over,
});

describe('announcement expiry', () => {
  test.each([1, 0.25, 3600])('[A03] with a ttl of %d s ends exactly at that time', async (ttl) => {
    const { announcements, clock } = await open();
    const { created_at, expires_at } = await announcements.post(note('hello', { ttl }));
    expect(expires_at).toBe(created_at + ttl * 1000);
    clock.advance(ttl * 1000 - 1);
    expect(announcements.list()).toHaveLength(1);
    clock.advance(1);
    expect([announcements.list(), announcements.after(0), announcements.newestId()]).toEqual([[], [], 0]);
  });

  test('[A03] is at least a millisecond after posting', async () => {
    const { announcements } = await open();
    await announcements.post(note('hello', { ttl: Number.MIN_VALUE }));
    expect(announcements.list()).toHaveLength(1);
  });

  test('does not happen without a ttl', async () => {
    const { announcements, clock } = await open();
    await announcements.post(note('hello'));
    clock.advance(50 * 365 * 24 * 3600 * 1000);
    expect(announcements.list()).toMatchObject([{ text: 'hello', expires_at: null }]);
  });

  test('removes only the expired announcement', async () => {
    const { announcements, clock } = await open();
    await announcements.post(note('first'));
    await announcements.post(note('second', { ttl: 1 }));
    await announcements.post(note('third', { ttl: 2 }));
    clock.advance(1000);
    expect(announcements.list().map(({ text }) => text)).toEqual(['first', 'third']);
    clock.advance(1000);
    expect(announcements.list().map(({ text }) => text)).toEqual(['first']);
  });

  test('is followed by deletion from the disk at the next post', async () => {
    const { announcements, clock, stored } = await open();
    await announcements.post(note('short', { ttl: 1 }));
    clock.advance(1000);
    await announcements.post(note('next'));
    expect(await stored()).toBe(1);
  });
});

describe('announcement ids', () => {
  test('rise for concurrent posts', async () => {
    const { announcements } = await open();
    const posted = await Promise.all(Array.from({ length: 20 }, (_, index) => announcements.post(note(`n${index}`))));
    expect(posted.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(announcements.list()).toEqual(posted);
  });

  test('[A06] keep rising after a restart, even when all earlier announcements are gone', async () => {
    const { announcements, clock, again, removeAll } = await open();
    for (const text of ['one', 'two', 'three']) await announcements.post(note(text, { ttl: 1 }));
    clock.advance(1000);
    const second = await again();
    const { id } = await second.post(note('four', { ttl: 1 }));
    clock.advance(1000);
    await second.post(note('five', { ttl: 1 }));
    clock.advance(1000);
    await removeAll();
    const third = await again();
    expect([id, (await third.post(note('six'))).id]).toEqual([4, 6]);
  });
});

test('[A06] exactly the live announcements survive a restart', async () => {
  const { announcements, clock, again } = await open();
  await announcements.post(note('short', { ttl: 1 }));
  const posted = [
    await announcements.post(note('stays', { target: 'identity:anna', from_session: 'x', priority: 'urgent' })),
    await announcements.post(note('long', { ttl: 60 })),
  ];
  clock.advance(1000);
  expect((await again()).list()).toEqual(posted);
});

test('after(id) returns the newer announcements', async () => {
  const { announcements } = await open();
  for (const text of ['one', 'two', 'three']) await announcements.post(note(text));
  const textsAfter = (id: number) => announcements.after(id).map(({ text }) => text);
  expect([0, 1, 3, 9].map(textsAfter)).toEqual([['one', 'two', 'three'], ['two', 'three'], [], []]);
});

describe('announcement limits', () => {
  test('drop the oldest above the count, in memory and on disk', async () => {
    const { announcements, again, stored } = await open({ count: 3, chars: 1000 });
    for (let n = 1; n <= 6; n++) await announcements.post(note(`n${n}`));
    expect(announcements.list().map(({ text }) => text)).toEqual(['n4', 'n5', 'n6']);
    expect(await stored()).toBeLessThanOrEqual(4);
    expect((await again()).list().map(({ text }) => text)).toEqual(['n4', 'n5', 'n6']);
  });

  test('drop the oldest above the total length', async () => {
    const { announcements } = await open({ count: 100, chars: 10 });
    for (const text of ['aaaa', 'bbbb', 'cccc']) await announcements.post(note(text));
    expect(announcements.list().map(({ text }) => text)).toEqual(['bbbb', 'cccc']);
  });

  test('allow 10,000 live announcements', async () => {
    const { announcements } = await open();
    await Promise.all(Array.from({ length: 10_010 }, () => announcements.post(note('x'))));
    expect(announcements.list()).toHaveLength(10_000);
    expect(announcements.list()[0]?.id).toBe(11);
  });

  test('[A05] truncate a long text without splitting a character', async () => {
    const { announcements } = await open();
    const { text } = await announcements.post(note(`${'x'.repeat(3999)}😀${'y'.repeat(900_000)}`));
    expect(text).toBe('x'.repeat(3999));
    expect((await announcements.post(note('\0a\u2028b'))).text).toBe('\0a\u2028b');
  });
});
