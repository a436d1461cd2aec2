import type { FastifyInstance } from 'fastify';
import { decodeUtf8, illFormedFault } from '../well-formed.ts';

type Parse = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

/** The one reader of JSON bodies: what is not well-formed Unicode reaches no schema and no route. */
export function readJsonBodies(app: Pick<FastifyInstance, 'addContentTypeParser' | 'getDefaultJsonParser'>): void {
  const parse = app.getDefaultJsonParser('error', 'error') as Parse;
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const text = decodeUtf8(bytes);
    parse(request, text, (error, value) => done(error ?? illFormedFault(text, value), value));
  });
}
