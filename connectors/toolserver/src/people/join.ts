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
 * Links a user to the person of an invitation, by sending the invitation as a message of that user, which is how the core accepts one.
 * Returns null if the user acts for that person afterwards, else why not.
 */
export const createJoin =
  ({ core, instanceId, log, identityOf }: Deps) =>
  async ({ userId, username }: ClientUser, { invitation, principal }: Invited): Promise<string | null> => {
    try {
      const { denied, principal_key: key, display_name: name } = await identityOf(userId);
      // All installations of a program whose client id is a document are one user: a second person must not get the rights of the first.
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
  `It already acts for "${name}", on every machine. To end that: ./svc person unlink ${link}. ` +
  'To use it for another person as well, register a client for them: docs/toolserver.md.';
