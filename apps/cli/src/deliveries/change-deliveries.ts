import { askCore } from '../service-client.ts';

export type DeliveryAction = 'retry' | 'dismiss';

/** What became of each delivery that was to be changed. `skipped` have no place to go, so they were not tried. */
export type Changed = { ok: boolean; done: string[]; refused: { id: string; message: string }[]; skipped: string[] };

/** Tries deliveries again, or takes them off the list, one after the other. A refusal of the core is a value. */
export async function changeDeliveries(coreUrl: string, action: DeliveryAction, ids: readonly string[]): Promise<Changed> {
  const changed: Changed = { ok: true, done: [], refused: [], skipped: [] };
  for (const id of ids) {
    const url = `${coreUrl}/v2/deliveries/${encodeURIComponent(id)}`;
    const answer = await (action === 'retry' ? askCore(`${url}/retry`, { method: 'POST' }) : askCore(url, { method: 'DELETE' }));
    if (answer.ok) changed.done.push(id);
    else changed.refused.push({ id, message: answer.body.message });
  }
  changed.ok = changed.refused.length === 0;
  return changed;
}
