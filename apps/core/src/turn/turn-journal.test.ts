import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openTestDb } from '../../test/open-test-db.ts';
import { createTurnJournal, toTurn } from './turn-journal.ts';
import type { Turn } from './turn.ts';

const turn = (id: string, key: string, transcript: string[]): Turn => ({
  id,
  seq: 0,
  requestId: 'r',
  instanceId: null,
  envelope: {
    channel: 'shell',
    conversation_key: key,
    sender: { raw_id: 'a' },
    content: { text: id, transcript: transcript.map((text) => ({ role: 'user', text })) },
  },
});

test('messages of one conversation are accepted in the order they came, however long they are', async () => {
  const journal = createTurnJournal(openTestDb().db(), createFakeClock());
  const long = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
  const turns = [turn('1', 'a', long), turn('2', 'a', []), turn('3', 'a', long), turn('4', 'a', []), turn('5', 'b', [])];
  await Promise.all(turns.map((each) => journal.accept(each, 'queued')));
  const open = (await journal.open()).map(toTurn);
  expect(open.filter(({ envelope }) => envelope.conversation_key === 'a').map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
  expect(open[0]?.id).toBe('5'); // another conversation waits for none of it
  expect(open.find(({ id }) => id === '3')?.envelope).toEqual(turns[2]?.envelope);
});
