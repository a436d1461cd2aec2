import type { Events } from '../events.ts';
import type { Folders } from '../folder/folders.ts';
import type { Terminals } from '../terminal/terminals.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { Claims } from './claims.ts';
import { forgetConversation, type ForgetDeps } from './forget-conversation.ts';

type Deps = ForgetDeps & {
  pipeline: Pick<Pipeline, 'whileIdle'>;
  terminals: Pick<Terminals, 'refuseOpen'>;
  claims: Pick<Claims, 'forget'>;
  events: Pick<Events, 'conversationForgotten'>;
  folders: Pick<Folders, 'clear'>;
};

/**
 * Forgets a conversation for an operator, with its settings. Repeating it changes nothing.
 * @throws ServiceError `conflict` while a turn of it is in flight, or its program runs in a terminal
 */
export async function forgetSession(deps: Deps, key: string, actor: string): Promise<void> {
  deps.terminals.refuseOpen(key);
  await deps.pipeline.whileIdle(key, async () => {
    deps.claims.forget(key);
    await forgetConversation(deps, key);
    deps.events.conversationForgotten(key);
    await deps.folders.clear(actor, { scope: 'conversation', name: key });
  });
}
