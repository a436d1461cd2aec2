import { setImmediate as nextTick } from 'node:timers/promises';
import type { CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';

/** `coreMask`: null for events of the core itself. */
type Masks = { mask: OutboundMask; coreMask: Pick<CoreMask, 'json'> | null };

/** Masking more events at once would delay other requests. */
const maskedAtOnce = 100;

/** Masks the secrets known here and to the core in events, before these are stored, searched and sent on. */
export async function maskIncoming(events: readonly unknown[], masks: Masks): Promise<readonly unknown[]> {
  if (events.length <= maskedAtOnce) return maskSome(events, masks);
  const all: unknown[] = [];
  for (let at = 0; at < events.length; at += maskedAtOnce) {
    all.push(...(await maskSome(events.slice(at, at + maskedAtOnce), masks)));
    await nextTick();
  }
  return all;
}

/** A masked id is removed, because two events with masked ids are not the same event. */
async function maskSome(events: readonly unknown[], { mask, coreMask }: Masks): Promise<readonly unknown[]> {
  const { json, value } = mask.write(events);
  const also = coreMask === null ? json : await coreMask.json(json);
  const masked = also === json ? value : (JSON.parse(also) as unknown[]);
  return masked === events ? events : events.map((event, i) => withOwnId(masked[i], event));
}

function withOwnId(event: unknown, given: unknown): unknown {
  if (typeof event !== 'object' || event === null || idOf(event) === idOf(given)) return event;
  const { id: _masked, ...rest } = event as { id?: unknown };
  return rest;
}

const idOf = (event: unknown): unknown => (event as { id?: unknown } | null)?.id;
