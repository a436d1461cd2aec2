import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { TurnOutcome } from './run-turn.ts';
import type { ThreadModels } from './thread-models.ts';

type Turn = AsyncGenerator<EngineEvent, TurnOutcome>;

/** `own`: the instructions of this caller's turn. `common`: the part of them that every caller's turn has. */
type Instructions = { own: string; common: string };

/**
 * A turn with the instructions of its caller. When the model is another one than in the turn before, codex writes them into the
 * history of the thread, which the next caller's model is given too: such a turn has only what is for everybody, and so has one
 * whose earlier model is unknown.
 */
export async function* withInstructions(
  start: (instructions: string) => Turn,
  { own, common }: Instructions,
  models: ThreadModels,
): Turn {
  const turn = start(own);
  try {
    for (let step = await turn.next(); ; step = await turn.next()) {
      if (step.done === true) return step.value;
      if (step.value.type !== 'session') {
        yield step.value;
        continue;
      }
      const { engineSessionId: id, resumed, model } = step.value;
      const isSame = resumed && model !== null && (await models.read(id)) === model;
      if (!isSame) await models.forget(id);
      // The turn has not begun yet: its thread was loaded, no more.
      if (resumed && !isSame && own !== common) break;
      yield step.value;
      return isSame || model === null ? yield* turn : yield* noting(turn, () => models.write(id, model));
    }
  } finally {
    await turn.return('finished');
  }
  return yield* withInstructions(start, { own: common, common }, models);
}

/** The model of a turn that was cut short is not known: codex may have changed to it or not. */
async function* noting(turn: Turn, note: () => Promise<void>): Turn {
  for (;;) {
    const step = await turn.next();
    if (step.done === true) return step.value;
    if (step.value.type === 'done') await note();
    yield step.value;
  }
}
