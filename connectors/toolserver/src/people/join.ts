import { errorText, type StartContext } from '@svc/connector-kit';
import type { Identity } from '@svc/contract/trust.ts';
import { textOf } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { Invited } from '../consent/approval-codes.ts';
import { conversationKey } from '../mcp/conversation.ts';
import { meta } from '../meta.ts';
import type { ClientUser } from './client-user.ts';

type Deps = Pick<StartContext, 'core' | 'instanceId' | 'log'> & { identityOf: (userId: string) => Promise<Identity> };

/**
 * Makes a user speak for the person of an invitation: it is said in the user's name, which is what the core knows invitations by. Gives
 * null when the user speaks for that person then, else why not.
 */
export const createJoin =
  ({ core, instanceId, log, identityOf }: Deps) =>
  async ({ userId, username }: ClientUser, { invitation, principal }: Invited): Promise<string | null> => {
    try {
      const { denied, principal_key: key, display_name: name } = await identityOf(userId);
      // All installations of a program whose id is a document are one user: the next one's person must not get what the first one has.
      if (!denied) return key === principal ? null : speaksFor(name, `${key} ${meta.type} ${userId}`);
      const { actions } = await core.handle({
        channel: meta.type,
        conversation_key: conversationKey(instanceId, userId),
        message_id: randomIds.next('msg'),
        sender: { raw_id: userId, raw_username: username },
        content: { text: invitation },
        capabilities: meta.capabilities,
      });
      return (await identityOf(userId)).denied ? textOf(actions) || 'The core refused the invitation.' : null;
    } catch (error) {
      log('warn', 'a client could not be linked to a person', { error: errorText(error) });
      return 'The core did not answer.';
    }
  };

const speaksFor = (name: string, link: string): string =>
  `It speaks for "${name}" already, wherever it is installed. To end that: ./svc person unlink ${link}. ` +
  'To have it speak for another person too, register a client for them: docs/toolserver.md.';
