import type { OutboundMessage, ToggleChannel } from '@svc/contract/send.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/** A message as it came to `/out`. The manager is ours, so only what a mix-up could break is checked. Throws `bad_request`. */
export function parseOutboundMessage(value: unknown): OutboundMessage {
  const { id, target, kind, text, path, caption } = toRecord(value);
  if (typeof id !== 'string' || !/^[\w.:-]{1,200}$/.test(id)) throw badRequest('"id" has to be a plain name.');
  if (typeof target !== 'string' || typeof kind !== 'string') throw badRequest('"target" and "kind" have to be texts.');
  for (const [name, part] of Object.entries({ text, path, caption }))
    if (part !== undefined && typeof part !== 'string') throw badRequest(`"${name}" has to be a text.`);
  // Checked just above.
  return { id, target, kind, text, path, caption } as OutboundMessage;
}

/** Throws `bad_request`. */
export function parseToggle(value: unknown): ToggleChannel {
  const { channel_id, enabled } = toRecord(value);
  if (typeof channel_id !== 'string' || typeof enabled !== 'boolean')
    throw badRequest('Send { "channel_id": "…", "enabled": true } or false.');
  return { channel_id, enabled };
}

function toRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('Send a JSON object.');
  return { ...value };
}
