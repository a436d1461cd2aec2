import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFeed, type Feed } from '@svc/service-kit/feed/create-feed.ts';
import { sseFrame } from '@svc/service-kit/http/sse.ts';
import { timeOfId } from '@svc/service-kit/ids.ts';
import { noMask, type MaskedJson, type OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';

/** Only the serialized line is kept: its length is known, and it keeps no other object in memory. */
export type FedEvent = { id: string; kind: TelemetryEvent['kind']; line: MaskedJson };

const limits = { items: 2000, chars: 2 * 1024 * 1024 };

/** Live telemetry, one SSE event type per kind. A line of JSON contains no line break, so no text can forge a frame. */
export const createEventFeed = (mask: Pick<OutboundMask, 'jsonText'>, clock: Clock): Feed<FedEvent> =>
  createFeed({
    ring: limits,
    clock,
    lengthOf: ({ line }) => line.length,
    frameOf: ({ kind, id, line }) => sseFrame(kind, line, id),
    // a secret may have become known since it was stored
    replayOf: ({ kind, id, line }) => sseFrame(kind, mask.jsonText(line), id),
    gapOf,
  });

function gapOf(id: string | null): string {
  const since = id === null ? null : timeOfId(id);
  const from = since === null ? '<epoch ms of the last one you have>' : since;
  const message = `Events are missing before the next one. Ask the collector for them: GET /api/events?since=${from}.`;
  return sseFrame('gap', noMask.json({ since, message })); // contains no text from outside
}
