import type { ServerResponse } from '@svc/service-kit/builtin.ts';

/**
 * What goes wrong with a request: the connection is cut or an error given before it took effect or after it, the answer comes in
 * two halves with `slowMs` between them, or it never comes.
 */
export type PlatformFault =
  | 'cut before'
  | 'cut after'
  | 'no answer'
  | { status: number; when: 'before' | 'after' }
  | { slowMs: number };

/** A request of the bot. */
export type PlatformRequest = { method: string; path: string };

/** Says what goes wrong with a request; undefined for those that are to go well. */
export type ChooseFault = (request: PlatformRequest) => PlatformFault | undefined;

/** Writes an answer as a fault has it. */
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

/** Whether a request with this fault does what it asks for. */
export const takesEffect = (fault: PlatformFault | undefined): boolean =>
  fault !== 'cut before' && !(typeof fault === 'object' && 'when' in fault && fault.when === 'before');
