import type { Route } from '@svc/connector-kit/http/route-table.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Identify } from './chat-completions.ts';

/** Routes of the protocol that are not supported, with the alternative. */
const paths: Readonly<Record<string, string>> = {
  '/v1/embeddings':
    'Embeddings are not supported: the engines have none. Use your own embedding model, such as one on a local model server.',
  '/v1/completions': 'Completions without messages are not supported. Use POST /v1/chat/completions.',
  '/v1/moderations': 'Moderation of texts is not supported.',
  '/v1/images/generations':
    'Generating images is not supported by this route. Ask for one in a chat completion: the assistant has a tool for it.',
  '/v1/images/edits': 'Editing images is not supported.',
  '/v1/audio/translations':
    'Translating audio is not supported. Use POST /v1/audio/transcriptions, then ask for a translation of the text.',
  '/v1/files': 'Storing files is not supported. Send them with the message, as parts of the type file, image_url or input_audio.',
  '/v1/batches': 'Batches are not supported. Use POST /v1/chat/completions.',
};

/** Paths that clients request if their base URL lacks `/v1`. */
const withoutVersion = [
  ['POST', '/chat/completions'],
  ['POST', '/responses'],
  ['GET', '/models'],
] as const;

/** Answers in this protocol's terms; a plain 404 would leave clients guessing. */
export const createUnsupportedRoutes = (identify: Identify): Route[] =>
  [
    ...Object.entries(paths).map(([path, message]) => ({ method: 'POST' as const, path, message })),
    ...withoutVersion.map(([method, path]) => {
      return { method, path, message: `This is ${method} /v1${path} here: the base URL of a client ends in /v1.` };
    }),
  ].map(({ method, path, message }) => ({
    method,
    path,
    doc: { summary: 'Not supported; the error says what to use instead', needsKey: true },
    handle(exchange) {
      identify(exchange);
      throw new ServiceError('not_found', message, { details: { code: 'unsupported_endpoint' } });
    },
  }));
