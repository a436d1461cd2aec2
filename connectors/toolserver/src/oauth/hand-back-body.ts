import type { IncomingMessage } from '@svc/service-kit/builtin.ts';

/**
 * Makes a request that was read readable again, with the same bytes. The authorization server reads by `readable` and `iterator`, and warns
 * of a body that it gets in any other way.
 */
export function handBackBody(req: IncomingMessage, body: Buffer): void {
  const iterator = async function* () {
    yield body;
  };
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: iterator } });
}
