import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { TurnOutcome } from './run-turn.ts';
import { withInstructions } from './with-instructions.ts';

const createModels = () => {
  const known = new Map<string, string>();
  return {
    read: (id: string) => Promise.resolve(known.get(id) ?? null),
    write: (id: string, model: string) => Promise.resolve(void known.set(id, model)),
    forget: (id: string) => Promise.resolve(void known.delete(id)),
  };
};

/** A codex with one thread: what it adds to the history, and the instructions of each turn that began. */
function createCodex() {
  const history: string[] = [];
  const told: string[] = [];
  let before: string | null = null;
  let open = 0;
  async function* run(
    model: string,
    end: 'done' | 'aborted' | 'early',
    instructions: string,
  ): AsyncGenerator<EngineEvent, TurnOutcome> {
    open++;
    try {
      yield { type: 'session', engineSessionId: 't', resumed: before !== null || history.length > 0, model };
      if (end === 'early') return 'finished';
      if (before !== null && before !== model) history.push(instructions);
      before = model;
      told.push(instructions);
      yield { type: 'delta', text: 'x' };
      yield { type: end };
      return 'finished';
    } finally {
      open--;
    }
  }
  return { history, told, run, open: () => open };
}

const turns = fc.array(
  fc.record({
    model: fc.constantFrom('a', 'b', 'c'),
    end: fc.constantFrom('done', 'done', 'aborted', 'early'),
    isOwner: fc.boolean(),
    leaves: fc.boolean(),
  }),
  { maxLength: 12 },
);

test('nothing of the owner gets into the history, in any sequence of models, callers and endings', async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      const codex = createCodex();
      const models = createModels();
      for (const { model, end, isOwner, leaves } of all) {
        const own = isOwner ? 'common and PRIVATE' : 'common';
        const start = (instructions: string) => codex.run(model, end as 'done', instructions);
        for await (const { type } of withInstructions(start, { own, common: 'common' }, models))
          if (leaves && type === 'delta') break;
        expect(codex.open()).toBe(0);
      }
      expect(codex.history.join()).not.toContain('PRIVATE');
    }),
  );
});

test('the owner gets all instructions in a new thread, and after a change of model from the second turn on', async () => {
  const codex = createCodex();
  const models = createModels();
  for (const model of ['a', 'a', 'b', 'b', 'a']) {
    const start = (instructions: string) => codex.run(model, 'done', instructions);
    const turn = withInstructions(start, { own: 'all', common: 'common' }, models);
    while ((await turn.next()).done !== true);
  }
  expect(codex.told).toEqual(['all', 'all', 'common', 'all', 'common']);
});
