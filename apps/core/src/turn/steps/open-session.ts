import type { Identity } from '@svc/contract/trust.ts';
import type { TurnFolder } from '../../folder/folders.ts';
import { isKeyOf } from '../../session/conversation-key.ts';
import type { OpenSession } from '../../session/session-store.ts';
import { outboundTarget } from '../route-of.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

type Deps = Pick<TurnDeps, 'sessions' | 'folders' | 'checkouts'>;

/** The session of a turn, with fields that apply only to this turn. */
export type TurnSession = OpenSession & { trustedFolder: boolean };

/** Creates or continues the session, and records its working folder and outbound route at every turn. */
export async function openSession(
  { sessions, ...places }: Deps,
  turn: Turn,
  identity: Identity,
  prompt: Pick<Prompt, 'announcedUpTo'>,
  engineId: string,
): Promise<TurnSession> {
  const { envelope, instanceId } = turn;
  const folder = await folderOf(places, turn, identity);
  const session = await sessions.open({
    conversation_key: envelope.conversation_key,
    surface: envelope.channel,
    instance_id: instanceId,
    principal_id: identity.principal_id,
    is_own: isKeyOf(envelope.channel, envelope.conversation_key),
    outbound_instance_id: instanceId,
    // Replies that its channel keeps for later are read there, and not pushed.
    outbound_target: instanceId === null || envelope.keeps === true ? null : outboundTarget(envelope.channel_context),
    public: envelope.public === true ? 1 : 0,
    engine_id: engineId,
    cwd: folder.path,
    last_announce_id: prompt.announcedUpTo,
  });
  return { ...session, trustedFolder: folder.isTrusted };
}

/**
 * The working folder: a checkout that the message names, for senders who may read files, unless the operator gave the conversation its
 * own folder; otherwise the usual one. A checkout is other people's content: nothing in it is trusted.
 */
async function folderOf({ folders, checkouts }: Omit<Deps, 'sessions'>, turn: Turn, identity: Identity): Promise<TurnFolder> {
  const { envelope, instanceId } = turn;
  const { conversation_key: conversationKey, channel, workspace } = envelope;
  if (workspace === undefined || identity.tool_policy === 'none' || folders.hasOwn(conversationKey))
    return folders.forTurn({ conversationKey, instanceId, channel }, identity);
  const mayWrite = identity.tool_policy === 'full';
  return { path: checkouts.forTurn(workspace.checkout, { conversationKey, instanceId, mayWrite }), isTrusted: false };
}
