import { expect, test } from 'vitest';
import type { HistoryMessage } from '@svc/contract/session.ts';
import { Conversation } from '../state/conversation.ts';
import { createHistoryPages } from './history-pages.ts';

const pageSize = 50;
const message = (index: number): HistoryMessage => ({
  turn_id: `t${index}`,
  message_id: `m${index}`,
  role: 'user',
  sender: 'Anna',
  text: `${index}`,
  at: index + 1,
  state: 'delivered',
  outcome: 'replied',
  attachments: [],
  tools: [],
});

/** A conversation with so many turns, and the pages of it that are shown. */
function place(begun: number) {
  const conversation = new Conversation();
  const asked: (number | null)[] = [];
  let said = begun;
  let isAway = false;
  const pages = createHistoryPages({
    conversation,
    async read(before) {
      asked.push(before);
      if (isAway) throw new Error('away');
      const end = before ?? said;
      const from = Math.max(0, end - pageSize);
      const messages = Array.from({ length: end - from }, (_, index) => message(from + index));
      return { messages, next: from === 0 ? null : from };
    },
  });
  const shown = () => conversation.keys().map((key) => Number(key.slice(1)));
  const isWhole = (from: number) => expect(shown()).toEqual(Array.from({ length: said - from }, (_, index) => from + index));
  return { ...pages, asked, shown, isWhole, say: (more: number) => (said += more), away: (is: boolean) => (isAway = is) };
}

test('reading the newest pages leaves no gap, and older pages follow', async () => {
  const { readNewest, loadOlder, isWhole, say, shown, asked } = place(120);
  await readNewest();
  isWhole(70);
  say(20);
  await readNewest();
  isWhole(70);
  say(180);
  await readNewest();
  isWhole(70);
  asked.length = 0;
  await loadOlder();
  isWhole(20);
  // Pages that are already known are not read again.
  expect(asked).toEqual([70]);
  await loadOlder();
  await loadOlder();
  isWhole(0);
  expect(shown()).toHaveLength(320);
});

test('continues a gap that is too large for one read before it loads older pages', async () => {
  const { readNewest, loadOlder, isWhole, say, shown } = place(100);
  await readNewest();
  say(pageSize * 14);
  await readNewest();
  expect(shown()).toHaveLength(pageSize * 12);
  for (let page = 0; page < 3; page += 1) await loadOlder();
  isWhole(50);
  await loadOlder();
  isWhole(0);
});

test('fills a gap whose read failed later, even if another gap has opened since', async () => {
  const { readNewest, loadOlder, isWhole, say, away } = place(100);
  await readNewest();
  say(200);
  const cut = readNewest();
  away(true);
  await cut;
  away(false);
  say(200);
  await readNewest();
  for (let page = 0; page < 8; page += 1) await loadOlder();
  isWhole(0);
});

test('rejects when the newest page cannot be read, and reads it the next time', async () => {
  const { readNewest, isWhole, away } = place(30);
  away(true);
  await expect(readNewest()).rejects.toThrow('away');
  away(false);
  await readNewest();
  isWhole(0);
});
