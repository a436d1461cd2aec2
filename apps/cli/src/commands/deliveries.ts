import type { Delivery } from '@svc/contract/delivery.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import {
  changeDeliveries,
  readDeliveries,
  type Changed,
  type DeliveryAction,
  type DeliveryList,
} from '../deliveries/delivery-api.ts';
import { renderChanged, renderDeliveries } from '../deliveries/render-deliveries.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** `all`: includes delivered replies. */
export type DeliveriesOptions = { all?: boolean; json?: boolean };

/** Longer lists are for programs. */
const shownPerState = 50;

/** Lists the undelivered replies, retries some, or dismisses them. */
export function deliveries(action: DeliveryAction | null, ids: readonly string[], options: DeliveriesOptions): Promise<number> {
  const url = coreUrl(loadSettings(repositoryRoot));
  return action === null ? list(url, options) : change(url, action, ids, options);
}

async function list(url: string, { all, json }: DeliveriesOptions): Promise<number> {
  const found = await read(url, all === true ? [null] : ['failed', 'pending'], json === true ? undefined : shownPerState);
  const { isWhole: _isWhole, ...facts } = found;
  print(json === true ? JSON.stringify(facts, null, 2) : renderDeliveries(found, Date.now(), createStyle(process.stdout)));
  return exitCodes.ok;
}

async function change(url: string, action: DeliveryAction, ids: readonly string[], { json }: DeliveriesOptions): Promise<number> {
  const changed = ids.includes('all') ? await changeAll(url, action) : await changeDeliveries(url, action, ids);
  if (json === true) print(JSON.stringify(changed, null, 2));
  else if (changed.ok || changed.done.length > 0) print(renderChanged(action, changed, createStyle(process.stdout)));
  else throw refused(action, changed);
  return changed.ok ? exitCodes.ok : exitCodes.failed;
}

/** All deliveries that allow the action: a pending one cannot be dismissed, one without a target cannot be retried. */
async function changeAll(url: string, action: DeliveryAction): Promise<Changed> {
  const found = await read(url, action === 'retry' ? ['failed', 'pending'] : ['failed']);
  const isAble = ({ instance_id }: Delivery) => action === 'dismiss' || instance_id !== null;
  const idsOf = (some: Delivery[]) => some.map(({ id }) => id);
  const changed = await changeDeliveries(url, action, idsOf(found.deliveries.filter(isAble)));
  return { ...changed, skipped: idsOf(found.deliveries.filter((delivery) => !isAble(delivery))) };
}

async function read(url: string, states: Parameters<typeof readDeliveries>[1], limit?: number): Promise<DeliveryList> {
  const answer = await readDeliveries(url, states, limit);
  if (!answer.ok) throw new CliError('the deliveries cannot be read.', { why: answer.body.message, run: './svc doctor' });
  return answer.body;
}

function refused(action: DeliveryAction, changed: Changed): CliError {
  const why = changed.refused.map(({ message }) => message).join('\n');
  const rule =
    action === 'retry'
      ? 'Only a failed or pending reply that has a place to go can be tried again.'
      : 'Only what is settled can be dismissed: a pending reply is still tried.';
  return new CliError(`nothing was ${action === 'retry' ? 'tried again' : 'dismissed'}.`, {
    why: `${why}\n${rule}`,
    run: './svc delivery --all',
  });
}
