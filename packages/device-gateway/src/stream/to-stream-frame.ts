import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import type { SessionStreamFrame } from '@svc/contract/session.ts';

/** What a device receives for a frame of its conversation; null for frames that it does not need. */
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

/**
 * One event. Its id is a position from which to continue, even after a restart of the gateway; without an id, the reader keeps its previous
 * position.
 */
export function eventOf(frame: { type: string; [field: string]: unknown }, id: number | null = null): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;
}
