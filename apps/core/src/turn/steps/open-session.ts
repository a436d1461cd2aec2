import type { Identity } from '@svc/contract/trust.ts';
import type { CoreContext } from '../../context.ts';
import type { OpenSession } from '../../session/session-store.ts';
import { isKeyOf } from '../../session/conversation-key.ts';
import { outboundTarget } from '../route-of.ts';
import type { Turn } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

type Deps = Pick<CoreContext, 'sessions' | 'workspaces'>;

/** Creates or continues the session, and records at every turn where its replies can be pushed to. */
export function openSession(
  { sessions, workspaces }: Deps,
  turn: Turn,
  identity: Identity,
  prompt: Pick<Prompt, 'announcedUpTo'>,
  engineId: string,
): Promise<OpenSession> {
  const { envelope } = turn;
  return sessions.open({
    conversation_key: envelope.conversation_key,
    surface: envelope.channel,
    instance_id: turn.instanceId,
    principal_id: identity.principal_id,
    is_own: isKeyOf(envelope.channel, envelope.conversation_key),
    outbound_instance_id: turn.instanceId,
    outbound_target: turn.instanceId === null ? null : outboundTarget(envelope.channel_context),
    public: envelope.public === true ? 1 : 0,
    engine_id: engineId,
    cwd: workspaces.folderFor(identity),
    last_announce_id: prompt.announcedUpTo,
  });
}
