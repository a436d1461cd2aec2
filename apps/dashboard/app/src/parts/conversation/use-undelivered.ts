import { t } from '@svc/chat-ui/language/t.ts';
import type { Conversation } from '@svc/chat-ui/state/conversation.ts';
import type { Undelivered } from '@svc/chat-ui/state/turn.ts';
import type { Delivery, DeliveryPage } from '@svc/contract/delivery.ts';
import { useCallback, useEffect } from 'react';
import { call, withQuery } from '../api.ts';
import { clockTime } from '../format.ts';
import { queryClient, refresh, useApi } from '../query.ts';
import { toast } from '../toast.tsx';

const deliveriesPath = '/core/v2/deliveries';
/** No event reports another failed attempt, so the list is read this often, ms. */
const everyMs = 60_000;

/** Reads the undelivered replies again. */
export const refreshUndelivered = (): Promise<void> => refresh(queryClient, [deliveriesPath]);

/**
 * Shows at the turns of a conversation which replies have not reached their channel yet, also after a reload. Returns the act that retries
 * them now.
 */
export function useUndelivered(conversation: Conversation, conversationKey: string): (deliveries: readonly string[]) => void {
  const pathOf = (state: 'failed' | 'pending') =>
    withQuery(deliveriesPath, { state, conversation_key: conversationKey, limit: 100 });
  const { data: failed } = useApi<DeliveryPage>(pathOf('failed'), everyMs);
  const { data: pending } = useApi<DeliveryPage>(pathOf('pending'), everyMs);

  useEffect(() => {
    if (failed === undefined || pending === undefined) return;
    // If the text of a turn has failed and its file still waits, the failure is shown.
    conversation.setUndelivered(byTurn([...pending.deliveries.filter(({ attempts }) => attempts > 0), ...failed.deliveries]));
  }, [conversation, failed, pending]);

  return useCallback((deliveries) => void tryNow(deliveries), []);
}

async function tryNow(deliveries: readonly string[]): Promise<void> {
  try {
    for (const id of deliveries) await call('POST', `${deliveriesPath}/${encodeURIComponent(id)}/retry`);
    toast(t('It is being sent again.'));
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'fault');
  }
  await refreshUndelivered();
}

function byTurn(deliveries: readonly Delivery[]): Map<string, Undelivered> {
  const found = new Map<string, Undelivered>();
  for (const { id, turn_id, state, error, next_at, instance_id } of deliveries) {
    const isWaiting = state === 'pending';
    const reason = `${(error ?? t('the reason is not known')).replace(/\.$/, '')}.`;
    const again = isWaiting && next_at !== null ? clockTime(Math.max(next_at, Date.now())) : null;
    const others = found.get(turn_id)?.deliveries ?? [];
    found.set(turn_id, {
      reason: again === null ? reason : t('{reason} It is tried again at {time}.', { reason, time: again }),
      isWaiting,
      deliveries: instance_id === null ? others : [...others, id],
    });
  }
  return found;
}
