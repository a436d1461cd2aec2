import type { ServerResponse } from '@svc/service-kit/builtin.ts';

/**
 * A fault of a request: the connection is cut or an error is sent, before or after the request took effect; the answer comes in
 * two halves with `slowMs` between them, or never.
 */
export type PlatformFault =
  | 'cut before'
  | 'cut after'
  | 'no answer'
  | { status: number; when: 'before' | 'after' }
  | { slowMs: number };

/** A request of the bot. */
export type PlatformRequest = { method: string; path: string };

/** Chooses the fault of a request; undefined for none. */
export type ChooseFault = (request: PlatformRequest) => PlatformFault | undefined;

/** Sends an answer with a fault. */
export function answerWith(response: ServerResponse, status: number, body: Buffer, type: string, fault?: PlatformFault): void {
  if (fault === 'no answer') return;
  if (fault === 'cut after') return void response.destroy();
  if (typeof fault === 'object' && 'status' in fault) return void response.writeHead(fault.status).end();
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  if (fault === undefined) return void response.end(body);
  const half = Math.floor(body.length / 2);
  response.write(body.subarray(0, half));
  if (typeof fault === 'object') setTimeout(() => response.end(body.subarray(half)), fault.slowMs).unref();
}

/** Whether a request with this fault takes effect. */
export const takesEffect = (fault: PlatformFault | undefined): boolean =>
  fault !== 'cut before' && !(typeof fault === 'object' && 'when' in fault && fault.when === 'before');
