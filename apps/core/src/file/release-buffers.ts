import type { Readable } from 'node:stream';
import { http } from '@svc/service-kit/builtin.ts';

/** True for a body from a connection: Node copied each of its parts for this body alone. */
export const hasOwnBytes = (body: Readable): boolean => body instanceof http.IncomingMessage;

/**
 * Gives the memory of parts back at once, which makes them empty. Left to the collector, which sees small objects only, some
 * 80 MB of a fast upload lie about. Parts that share their memory with something else are left alone.
 */
export function releaseBuffers(parts: readonly Buffer[]): void {
  for (const { buffer, byteOffset, length } of parts) {
    if (buffer instanceof ArrayBuffer && byteOffset === 0 && length === buffer.byteLength) buffer.transfer(0);
  }
}
