import { sseFrame, type SseStream } from '@svc/service-kit/http/sse.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { timeOfId } from '@svc/service-kit/ids.ts';
import type { EventRing } from './event-ring.ts';
import type { LiveReaders } from './live-readers.ts';

type Deps = { liveReaders: LiveReaders; eventRing: Pick<EventRing, 'first' | 'end' | 'placeAfter' | 'read'> };

/** What is replayed goes out in pieces of about this many characters, each when there is room for it. */
const pieceChars = 128 * 1024;
/** A reader that makes no room for this long is dropped. */
const patienceMs = 30_000;
const maxIdLength = 128;

/**
 * Sends events to a reader: those after `lastId`, the last one it has seen (null for a reader that begins), then all
 * that happen, in order, each once. A reader that missed some gets a gap event before the rest.
 */
export async function followEvents({ liveReaders, eventRing }: Deps, stream: SseStream, lastId: string | null): Promise<void> {
  const known = lastId === null ? eventRing.end() : placeAfter(eventRing, lastId);
  if (known === null) stream.send(gapFrame(lastId));
  let place = known ?? eventRing.first();
  let seen = lastId;
  for (let part = eventRing.read(place, pieceChars); part.frames.length > 0; part = eventRing.read(place, pieceChars)) {
    if (part.isBroken) stream.send(gapFrame(seen));
    stream.send(part.frames.join(''));
    place = part.next;
    seen = part.lastId;
    if (!(await stream.drained(patienceMs))) return;
  }
  // Nothing is awaited between the last look and this, so nothing falls between them.
  liveReaders.add(stream);
}

const placeAfter = (ring: Pick<EventRing, 'placeAfter'>, id: string): number | null =>
  id.length <= maxIdLength ? ring.placeAfter(id) : null;

/** Says that events are missing after the one with this id. It has no id, so readers keep their place. */
function gapFrame(id: string | null): string {
  const since = id === null || id.length > maxIdLength ? null : timeOfId(id);
  const from = since === null ? '<epoch ms of the last one you have>' : since;
  const message = `Events are missing before the next one. Ask the collector for them: GET /api/events?since=${from}.`;
  return sseFrame('gap', noMask.json({ since, message })); // nothing in it is anybody's text
}
