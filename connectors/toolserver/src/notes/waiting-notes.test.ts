import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { createWaitingNotes } from './waiting-notes.ts';

test('a note that is sent while others are removed is kept', async () => {
  const clock = createFakeClock();
  const notes = createWaitingNotes(createMemoryState(), clock);
  const [first, second] = [
    { id: 'm1', text: 'The train is late.', at: clock.now() },
    { id: 'm2', text: 'It is here.', at: clock.now() },
  ];
  await notes.add('ann', first);
  await Promise.all([notes.remove('ann', [first]), notes.add('ann', second)]);
  expect(await notes.list('ann')).toEqual([second]);
});
