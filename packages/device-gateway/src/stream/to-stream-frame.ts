import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import type { SessionStreamFrame } from '@svc/contract/session.ts';

/** What a device is sent of a frame of its conversation; null for what it has no use for. */
export function toStreamFrame(frame: SessionStreamFrame): StreamFrame | null {
  const { seq: _seq, ...told } = frame;
  const { conversation_key } = told;
  switch (told.type) {
    case 'begin':
      return { ...told, type: 'inject' };
    case 'end':
      return { ...told, type: 'done' };
    case 'gap':
    case 'forgotten':
      return { conversation_key, type: told.type };
    case 'watching':
    case 'segment':
      return null;
    default:
      return told;
  }
}

/** One event. An id is a place to go on from, over restarts of the gateway too; without one the reader keeps its own. */
export function eventOf(frame: { type: string; [field: string]: unknown }, id: number | null = null): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;
}
