import { errorText, type StartContext } from '@svc/connector-kit';
import { textOf } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { conversationKey } from '../mcp/conversation.ts';
import { meta } from '../meta.ts';
import type { ClientUser } from './client-user.ts';

type Deps = Pick<StartContext, 'core' | 'instanceId' | 'log'> & { personOf: (userId: string) => Promise<string | null> };

/**
 * Makes a user speak for the person of an invitation: it is said in the user's name, which is what the core knows invitations by. Gives
 * null when the user speaks for a person then, else why not.
 */
export const createJoin =
  ({ core, instanceId, log, personOf }: Deps) =>
  async ({ userId, username }: ClientUser, invitation: string): Promise<string | null> => {
    try {
      const { actions } = await core.handle({
        channel: meta.type,
        conversation_key: conversationKey(instanceId, userId),
        message_id: randomIds.next('msg'),
        sender: { raw_id: userId, raw_username: username },
        content: { text: invitation },
        capabilities: meta.capabilities,
      });
      return (await personOf(userId)) === null ? textOf(actions) || 'The core refused it.' : null;
    } catch (error) {
      log('warn', 'a client could not be linked to a person', { error: errorText(error) });
      return 'The core did not answer.';
    }
  };
