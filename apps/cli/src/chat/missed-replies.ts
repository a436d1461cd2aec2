import type { Delivery, DeliveryPage } from '@svc/contract/delivery.ts';
import { CliError } from '../cli-error.ts';
import { span, wrapSpans } from '../screen/spans.ts';
import { askCore } from '../service-client.ts';
import { duration } from '@svc/service-kit/words.ts';
import type { ChatScreen } from './chat-screen.ts';

type Place = { coreUrl: string; conversationKey: string };

/** Shows the replies of a conversation that arrived while no client listened, each once; they count as delivered from then on. @throws CliError */
export function createMissedReplies({ coreUrl, conversationKey }: Place): (screen: () => ChatScreen) => Promise<void> {
  const shown = new Set<string>();
  return async (screen) => {
    for (const reply of await readMissed(coreUrl, conversationKey)) {
      // A reply that the core fails to mark is listed again.
      if (shown.has(reply.id)) continue;
      shown.add(reply.id);
      showReply(screen(), reply, Date.now());
      await askCore(`${coreUrl}/v2/deliveries/${encodeURIComponent(reply.id)}/delivered`, { method: 'POST' });
    }
  };
}

/** Oldest first. Replies with a channel to go to are left to that channel. */
async function readMissed(coreUrl: string, conversationKey: string): Promise<Delivery[]> {
  const query = new URLSearchParams({ state: 'failed', conversation_key: conversationKey });
  const answer = await askCore<DeliveryPage>(`${coreUrl}/v2/deliveries?${query.toString()}`);
  if (!answer.ok) throw new CliError('the missed replies cannot be read.', { why: answer.body.message, run: './svc doctor' });
  return answer.body.deliveries.filter(({ instance_id }) => instance_id === null).toReversed();
}

function showReply(screen: ChatScreen, { text, error, created_at }: Delivery, now: number): void {
  screen.print([[span(`— answered while you were away, ${duration(now - created_at)} ago —`, 'dim')], []]);
  const isFailure = error?.startsWith('the turn failed') === true;
  if (isFailure) return screen.print(wrapSpans([span('✗ ', 'red'), span(text)], screen.columns()));
  const view = screen.openTurn(null);
  view.show({ type: 'segment', text });
  view.finish({ type: 'result', result: { actions: [], outcome: 'replied', conversation_key: '', turn_id: '' } });
}
