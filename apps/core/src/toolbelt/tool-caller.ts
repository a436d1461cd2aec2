import { atLeast, type Identity } from '@svc/contract/trust.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { AskTurn } from '../tool-server/built-in-tools.ts';
import type { Turn } from '../turn/turn.ts';

/** The caller of a tool: the person of the current turn, or the operator with a separate client. */
export type ToolCaller = {
  /** Null for the operator, who is in no conversation here. */
  turn: Turn | null;
  identity: Pick<Identity, 'principal_id' | 'principal_key' | 'trust_tier' | 'tool_policy' | 'asks'>;
  /** The number of sends and announcements in this turn. */
  writes: number;
  /** Asks the person of the turn. */
  ask?: AskTurn;
};

/**
 * What a caller may use, and how far it reaches. `here`: the conversation itself. `own`: also the caller's own sessions. `all`: every
 * session and every channel.
 */
export type Rights = { tools: 'none' | 'read' | 'full'; reach: 'here' | 'own' | 'all' };

const writesPerTurn = 30;

/**
 * Guests have no tools, whatever their policy. In a public conversation anybody's words may be in the prompt, and anybody reads the answer,
 * so nobody reaches beyond it there.
 */
export function rightsOf({ turn, identity }: Pick<ToolCaller, 'turn' | 'identity'>): Rights {
  const isPublic = turn?.envelope.public === true;
  return {
    tools: atLeast(identity.trust_tier, 'KNOWN') ? identity.tool_policy : 'none',
    reach: isPublic ? 'here' : atLeast(identity.trust_tier, 'TRUSTED') ? 'all' : 'own',
  };
}

/** Whether a session is within a caller's reach. `isTheirs`: it is the caller's own. */
export function reaches(caller: ToolCaller, session: string, isTheirs: boolean): boolean {
  const { reach } = rightsOf(caller);
  return reach === 'all' || session === conversationOf(caller) || (reach === 'own' && isTheirs);
}

/** The operator's own client: no turn, full rights. */
export const operator = (): ToolCaller => ({
  turn: null,
  identity: { principal_id: null, principal_key: null, trust_tier: 'SACRED', tool_policy: 'full', asks: 'never' },
  writes: 0,
});

/** Counts an outgoing message or announcement. @throws ServiceError `busy` when a turn makes too many, as a looping model does. */
export function countWrite(caller: ToolCaller): void {
  if (caller.writes >= writesPerTurn) {
    throw new ServiceError('busy', `This turn has sent and announced ${writesPerTurn} times already, which is the limit.`);
  }
  caller.writes++;
}

/** The conversation a caller is in; null for the operator. */
export const conversationOf = ({ turn }: ToolCaller): string | null => turn?.envelope.conversation_key ?? null;

/** Filters the collector's sessions to those that the caller reaches: callers without full reach see only their own. */
export function seenBy<T extends { conversation_key: string; principal: string | null }>(
  caller: ToolCaller,
  sessions: readonly T[],
): T[] {
  const { principal_key } = caller.identity;
  return sessions.filter(({ conversation_key, principal }) =>
    reaches(caller, conversation_key, principal !== null && principal === principal_key),
  );
}
