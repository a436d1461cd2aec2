import { filesOf, textOf, type Action } from '@svc/contract/turn.ts';
import type { Transaction } from '@svc/store/database.ts';
import type { Route, StoredDelivery } from './delivery-store.ts';
import type { Outbox } from './outbox.ts';
import type { Turn } from '../turn/turn.ts';

/** The fields of a delivery that come from its turn. */
export const deliveryOf = (turn: Turn, text: string) => ({
  turn_id: turn.id,
  turn_seq: turn.seq,
  conversation_key: turn.envelope.conversation_key,
  // The id of an operator's text does not name a message of the channel.
  message_id: turn.steering === undefined ? (turn.envelope.message_id ?? null) : null,
  text,
  injected: turn.steering !== undefined,
});

type Reply = { turn: Turn; actions: readonly Action[]; route: Route | null; error: string | null };

/**
 * Pushes a reply: its text, then its files, each as its own delivery, in one transaction with what `change` writes. Reactions are not
 * pushed: they belong to a message that is answered on its own connection. Returns the first delivery, if any.
 */
export async function pushReply(
  outbox: Pick<Outbox, 'pushAll'>,
  { turn, actions, route, error }: Reply,
  change: (tx: Transaction) => Promise<unknown>,
): Promise<StoredDelivery | undefined> {
  const text = textOf(actions);
  const texts = text === '' ? [] : [{ ...deliveryOf(turn, text), route, error }];
  const files = filesOf(actions).map(({ type: _type, ...file }) => ({ ...deliveryOf(turn, file.name), file, route, error }));
  const [first] = await outbox.pushAll([...texts, ...files], change);
  return first;
}
