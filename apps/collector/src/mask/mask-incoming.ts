import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { CoreMask } from '@svc/service-kit/redaction/core-mask.ts';

/**
 * Events of others, without the secrets that are known here or to the core: they are stored, searched and sent on. An id that
 * was masked is left out, because two masked ids are not the same event.
 */
export async function maskIncoming(
  events: readonly unknown[],
  { mask, coreMask }: { mask: OutboundMask; coreMask: Pick<CoreMask, 'json'> },
): Promise<readonly unknown[]> {
  const { json, value } = mask.write(events);
  const also = await coreMask.json(json);
  const masked = also === json ? value : (JSON.parse(also) as unknown[]);
  return masked === events ? events : masked.map((event, i) => withOwnId(event, events[i]));
}

function withOwnId(event: unknown, given: unknown): unknown {
  if (typeof event !== 'object' || event === null || idOf(event) === idOf(given)) return event;
  const { id: _masked, ...rest } = event as { id?: unknown };
  return rest;
}

const idOf = (event: unknown): unknown => (event as { id?: unknown } | null)?.id;
