import type { ExtraAction } from '@svc/contract/turn.ts';
import { expect, test } from 'vitest';
import { createTurnActions } from './turn-actions.ts';
import type { Turn } from './turn.ts';

const turn = { id: 't1', seq: 1 } as Turn;
const react = (emoji: string): ExtraAction => ({ type: 'react', emoji });
const full = new Error('the disk is full');

/** Turn actions with a journal whose next commits end as given. */
function openActions(commits: (() => Promise<void>)[] = []) {
  const stored: ExtraAction[][] = [];
  const actions = createTurnActions({
    journal: { keepActions: (_turn, kept) => Promise.resolve(stored.push([...kept])) },
    db: {
      mark: () => 7,
      flush: (since) => (since === 7 ? (commits.shift()?.() ?? Promise.resolve()) : Promise.reject(new Error())),
    },
  });
  actions.begin(turn);
  return { actions, stored };
}

test('an action that could not be stored is not sent and does not count towards the limit', async () => {
  const { actions, stored } = openActions([() => Promise.reject(full)]);
  await expect(actions.add(turn, react('👎'))).rejects.toBe(full);
  const ten = Array.from({ length: 10 }, (_, index) => react(String(index)));
  for (const action of ten) await actions.add(turn, action);
  expect(actions.end(turn)).toEqual(ten);
  expect(stored.at(-1)).toEqual(ten);
});

test('of concurrent actions, a failed one appears neither in the reply nor in the journal', async () => {
  const first = Promise.withResolvers<void>();
  const { actions, stored } = openActions([() => first.promise]);
  const added = [actions.add(turn, react('a')), actions.add(turn, react('b'))];
  first.reject(full);
  expect((await Promise.allSettled(added)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(actions.end(turn)).toEqual([react('b')]);
  expect(stored.at(-1)).toEqual([react('b')]);
});

test('concurrent actions are held to the limit of ten', async () => {
  const { actions, stored } = openActions();
  const added = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => actions.add(turn, react(String(index)))));
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(added[11]).toMatchObject({ reason: { code: 'busy' } });
  expect(actions.end(turn)).toHaveLength(10);
  expect(stored.at(-1)).toHaveLength(10);
});

test('rejects an action that is stored only after the turn has ended', async () => {
  const commit = Promise.withResolvers<void>();
  const { actions } = openActions([() => commit.promise]);
  const added = actions.add(turn, react('a'));
  actions.end(turn);
  commit.resolve();
  await expect(added).rejects.toMatchObject({ code: 'conflict' });
});

test('an action is in the reply exactly if its addition succeeded, at any timing of commit and reply', async () => {
  // The commit is seen some ticks before the reply is made, in the same tick, or some ticks after; the turn is over some ticks later.
  for (let before = 0; before < 8; before++)
    for (let after = 0; after < 8; after++) {
      const commit = Promise.withResolvers<void>();
      const { actions } = openActions([() => commit.promise]);
      const added = actions.add(turn, react('a')).then(
        () => true,
        () => false,
      );
      commit.resolve();
      await ticks(before);
      const sent = actions.end(turn);
      await ticks(after);
      actions.end(turn);
      expect([before, after, sent.length]).toEqual([before, after, (await added) ? 1 : 0]);
    }
});

async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}
