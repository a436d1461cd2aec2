import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { TurnOutcome } from './run-turn.ts';
import type { ThreadModels } from './thread-models.ts';

type Turn = AsyncGenerator<EngineEvent, TurnOutcome>;

/** `own`: the instructions of this caller's turn. `common`: the part that is the same for every caller. */
type Instructions = { own: string; common: string };

/**
 * Runs a turn with its caller's instructions. When the model changes between turns, codex writes them into the thread's history, which the
 * next caller's model receives too. So such a turn gets only the common part, and so does one whose previous model is unknown.
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
      // The turn has not begun: only its thread was loaded.
      if (resumed && !isSame && own !== common) break;
      yield step.value;
      return isSame || model === null ? yield* turn : yield* noting(turn, () => models.write(id, model));
    }
  } finally {
    await turn.return('finished');
  }
  return yield* withInstructions(start, { own: common, common }, models);
}

/** After a turn that was cut short, the model is unknown: codex may or may not have changed it. */
async function* noting(turn: Turn, note: () => Promise<void>): Turn {
  for (;;) {
    const step = await turn.next();
    if (step.done === true) return step.value;
    if (step.value.type === 'done') await note();
    yield step.value;
  }
}
