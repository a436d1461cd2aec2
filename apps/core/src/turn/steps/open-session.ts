import type { Identity } from '@svc/contract/trust.ts';
import { isKeyOf } from '../../session/conversation-key.ts';
import type { OpenSession } from '../../session/session-store.ts';
import { outboundTarget } from '../route-of.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

type Deps = Pick<TurnDeps, 'sessions' | 'folders'>;

/** The session of a turn, with what holds for this turn alone. */
export type TurnSession = OpenSession & { trustedFolder: boolean };

/** Creates or continues the session, and records at every turn where it works and where its replies can be pushed to. */
export async function openSession(
  { sessions, folders }: Deps,
  turn: Turn,
  identity: Identity,
  prompt: Pick<Prompt, 'announcedUpTo'>,
  engineId: string,
): Promise<TurnSession> {
  const { envelope, instanceId } = turn;
  const origin = { conversationKey: envelope.conversation_key, instanceId, channel: envelope.channel };
  const folder = await folders.forTurn(origin, identity);
  const session = await sessions.open({
    conversation_key: envelope.conversation_key,
    surface: envelope.channel,
    instance_id: instanceId,
    principal_id: identity.principal_id,
    is_own: isKeyOf(envelope.channel, envelope.conversation_key),
    outbound_instance_id: instanceId,
    outbound_target: instanceId === null ? null : outboundTarget(envelope.channel_context),
    public: envelope.public === true ? 1 : 0,
    engine_id: engineId,
    cwd: folder.path,
    last_announce_id: prompt.announcedUpTo,
  });
  return { ...session, trustedFolder: folder.isTrusted };
}
