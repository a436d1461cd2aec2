import type { Identity, ToolPolicy } from '@svc/contract/trust.ts';
import type { Asking, Engine, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createAsker, type Asker } from '../../ask/ask-person.ts';
import type { ActiveEngine } from '../../engine/engine-pool.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { turnRedactor } from '../turn-redactor.ts';
import type { Turn, TurnIo } from '../turn.ts';

export type AskPersonDeps = Pick<
  TurnDeps,
  'asks' | 'askStore' | 'clock' | 'ids' | 'log' | 'settings' | 'knownSecrets' | 'events'
>;

/** A run of an engine for a turn. */
type Run = { turn: Turn; identity: Identity; active: Pick<ActiveEngine, 'engine'> };

const canAsk = ({ asks }: Pick<Engine, 'asks'>, wanted: Asking): boolean => asks?.includes(wanted) === true;

/** Brings questions to the person of a turn while an engine runs for it. */
export type TurnAsker = Asker & {
  /** Whether the engine asks too. Tools that always ask do so in any case. */
  isForEngine: boolean;
};

/** Created with its first question: most turns have none. */
export function openAsker(deps: AskPersonDeps, { turn, identity, active }: Run, io: TurnIo): TurnAsker {
  let made: Asker | null = null;
  let isOver = false;
  const make = (): Asker =>
    createAsker(deps, {
      turnId: turn.id,
      conversationKey: turn.envelope.conversation_key,
      isPublic: turn.envelope.public === true,
      principalId: identity.principal_id,
      ...io,
      redactor: () => turnRedactor(deps, turn),
      onAsk: (ask) => deps.events.ask(turn, identity, ask),
      onAsked: (ask, answer) => deps.events.asked(turn, identity, ask, answer),
    });
  return {
    isForEngine: identity.asks !== 'never' && canAsk(active.engine, identity.asks),
    ask: async (question, gone) => (isOver ? { option: null, outcome: 'ended' } : (made ??= make()).ask(question, gone)),
    isWaiting: () => made?.isWaiting() ?? false,
    waitedMs: () => made?.waitedMs() ?? 0,
    end() {
      isOver = true;
      made?.end();
    },
  };
}

/** The fields of a request about asking. An engine that cannot ask gets a tool policy under which it never needs to. */
export function askFields(
  { identity }: Pick<Run, 'identity'>,
  asker: TurnAsker,
): Pick<EngineRequest, 'ask' | 'asks' | 'toolPolicy'> {
  const { asks, tool_policy: toolPolicy } = identity;
  if (asks === 'never') return { toolPolicy };
  if (!asker.isForEngine) return { toolPolicy: unaskedPolicy(toolPolicy, asks) };
  return { toolPolicy, asks, ask: asker.ask };
}

const unaskedPolicy = (policy: ToolPolicy, asks: Asking): ToolPolicy =>
  asks === 'always' ? 'none' : policy === 'full' ? 'read' : policy;
