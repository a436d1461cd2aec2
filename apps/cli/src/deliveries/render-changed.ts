import { visibleLine, type Style } from '../terminal.ts';
import type { Changed, DeliveryAction } from './change-deliveries.ts';

/** What was done with deliveries, for a person. */
export function renderChanged(action: DeliveryAction, { done, refused, skipped }: Changed, style: Style): string {
  if (done.length + refused.length + skipped.length === 0) return `There is nothing to ${action}.`;
  return [
    ...(done.length === 0 ? [] : [style.green(doneLine(action, done.length))]),
    ...refused.map(({ id, message }) => style.yellow(`Not ${visibleLine(id)}: ${visibleLine(message)}`)),
    ...(skipped.length === 0 ? [] : [style.yellow(skippedLine(skipped.length))]),
  ].join('\n');
}

function doneLine(action: DeliveryAction, count: number): string {
  const what = count === 1 ? '1 reply is' : `${count} replies are`;
  return action === 'retry' ? `${what} tried again now. ./svc delivery shows what came of it.` : `${what} off the list.`;
}

const skippedLine = (count: number) =>
  `${count} ${count === 1 ? 'has' : 'have'} no place to go and can only be dismissed: ./svc delivery shows why.`;
