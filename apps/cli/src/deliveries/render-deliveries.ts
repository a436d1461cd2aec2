import type { Delivery } from '@svc/contract/delivery.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { counted, duration } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';
import type { Changed, DeliveryAction, DeliveryList } from './delivery-api.ts';

/** Replies that had to be delivered outside the connection that asked, for a person. `now` is epoch ms. */
export function renderDeliveries(
  { deliveries, isWhole }: Omit<DeliveryList, 'pending' | 'failed'>,
  now: number,
  style: Style,
): string {
  if (deliveries.length === 0) return 'There are none: no reply waits for its channel, and none has failed.';
  return [
    style.bold('Replies that did not arrive, the newest first:'),
    '',
    ...deliveries.flatMap((delivery) => [...block(delivery, now, style), '']),
    ...(isWhole ? [] : [style.dim('There are older ones: ./svc delivery --json shows all.'), '']),
    ...(deliveries.some(({ state }) => state !== 'delivered') ? hints : []),
  ]
    .join('\n')
    .trimEnd();
}

const hints = [
  '  ./svc delivery retry ID     tries it now; "retry all" every one that has a place to go',
  '  ./svc delivery dismiss ID   takes a failed one off this list; "dismiss all" all of them',
];

const maxKey = 120;
const maxError = 300;
const maxText = 100;

function block(delivery: Delivery, now: number, style: Style): string[] {
  const { id, error, text, created_at } = delivery;
  const facts = [...stateFacts(delivery, now), `made ${duration(now - created_at)} ago`].join(', ');
  return [
    `  ${stateStyle(delivery, style)(id)}   ${facts}`,
    `      ${place(delivery)}`,
    ...(error === null ? [] : [`      ${visibleLine(cut(error, maxError))}`]),
    `      ${style.dim(`"${firstWords(text)}"`)}`,
  ];
}

const stateStyle = ({ state }: Delivery, style: Style) =>
  state === 'failed' ? style.red : state === 'pending' ? style.yellow : style.green;

function stateFacts({ state, attempts, next_at }: Delivery, now: number): string[] {
  const times = attempts === 0 ? [] : [counted(attempts, 'attempt')];
  if (state !== 'pending') return [state, ...times];
  return ['pending', ...times, next_at === null || next_at <= now ? 'next now' : `next in ${duration(next_at - now)}`];
}

function place({ conversation_key, instance_id, target }: Delivery): string {
  const key = visibleLine(cut(conversation_key, maxKey));
  return instance_id === null
    ? `${key}, with no place to go`
    : `${key}, to ${visibleLine(cut(target ?? '', maxKey))} over ${visibleLine(instance_id)}`;
}

/** The beginning of a text on one line, without characters that could mislead a reader. */
function firstWords(text: string): string {
  const beginning = text
    .slice(0, maxText * 10)
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return visibleLine(cut(beginning, maxText));
}

const cut = (text: string, max: number) => (text.length > max ? `${cutText(text, max)}…` : text);

/** The outcome of a change of deliveries, for a person. */
export function renderChanged(action: DeliveryAction, { done, refused, skipped }: Changed, style: Style): string {
  if (done.length + refused.length + skipped.length === 0) return `There is nothing to ${action}.`;
  return [
    ...(done.length === 0 ? [] : [style.green(doneLine(action, done.length))]),
    ...refused.map(({ id, message }) => style.yellow(`Not ${visibleLine(id)}: ${visibleLine(message)}`)),
    ...(skipped.length === 0 ? [] : [style.yellow(skippedLine(skipped.length))]),
  ].join('\n');
}

function doneLine(action: DeliveryAction, count: number): string {
  const what = `${counted(count, 'reply', 'replies')} ${count === 1 ? 'is' : 'are'}`;
  return action === 'retry' ? `${what} tried again now. ./svc delivery shows the result.` : `${what} off the list.`;
}

const skippedLine = (count: number) =>
  `${count} ${count === 1 ? 'has' : 'have'} no place to go and can only be dismissed: ./svc delivery shows why.`;
