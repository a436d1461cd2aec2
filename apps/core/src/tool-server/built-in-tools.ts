import type { AskAnswer } from '@svc/contract/ask.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Question, ToolServer } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { Turn } from '../turn/turn.ts';

/**
 * The turn that tools are wanted for. `ended` aborts when the engine no longer needs them; until then, `ask` asks the person of the turn.
 */
export type ToolTurn = { turn: Turn; identity: Identity; ended: AbortSignal; ask: AskTurn };
/**
 * Asks the person of a turn, and resolves with the answer, which may be that there is none. `gone` aborts when nobody waits for the answer
 * any more.
 */
export type AskTurn = (question: Question, gone?: AbortSignal) => Promise<AskAnswer>;

/** A tool server of the service itself, which gives each turn its own address. */
export type BuiltInTools = {
  readonly name: string;
  readonly description: string;
  /** Null when it has nothing for this turn. Called only when the server is switched on and the caller's roles allow it. */
  serverFor(turn: ToolTurn): Promise<ToolServer | null> | null;
  /** A server for the operator's tests, until `ended` aborts. */
  serverForOperator(ended: AbortSignal): Promise<ToolServer>;
};

type Asked = { server: ToolServer | null } | { missing: MissingTools };

/** A server that should be available but is not, and why. */
export type MissingTools = { name: string; reason: string };

/** The longest time that a turn waits for a built-in server, in ms. */
const limitMs = 5000;

/** Asks a built-in server. One that fails or takes too long counts as missing; the turn continues without it. */
export async function askBuiltIn(builtIn: BuiltInTools, turn: ToolTurn, clock: Pick<Clock, 'after'>): Promise<Asked> {
  const server = builtIn.serverFor(turn);
  if (server === null) return { server };
  const tooLate = () => {
    throw new Error(`it did not answer within ${limitMs / 1000} s`);
  };
  try {
    return { server: await inTime(server, limitMs, tooLate, clock) };
  } catch (error) {
    return { missing: { name: builtIn.name, reason: errorText(error) } };
  }
}
