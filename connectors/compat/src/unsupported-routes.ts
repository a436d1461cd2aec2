import type { Route } from '@svc/connector-kit/http/route-table.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Identify } from './chat-completions.ts';

/** Routes of the protocol that clients know and that are not here, with what there is instead. */
const paths: Readonly<Record<string, string>> = {
  '/v1/embeddings':
    'Embeddings are not made here: engines give none. Use an embedding model of your own, such as one that a local model server has.',
  '/v1/completions': 'Completions without messages are not made here. Use POST /v1/chat/completions.',
  '/v1/moderations': 'Texts are not moderated for callers here.',
  '/v1/images/generations':
    'Images are not made by this route. Ask for one in a chat completion, where the assistant has a tool for it.',
  '/v1/images/edits': 'Images are not changed by this route.',
  '/v1/audio/translations':
    'Clips are not translated here. Use POST /v1/audio/transcriptions, and ask for a translation of its text.',
  '/v1/files':
    'Files are not kept here for callers. Send them with the message, as parts of the types file, image_url and input_audio.',
  '/v1/batches': 'There are no batches here. Use POST /v1/chat/completions.',
};

/** What a client asks for whose base URL lacks its end. */
const withoutVersion = [
  ['POST', '/chat/completions'],
  ['POST', '/responses'],
  ['GET', '/models'],
] as const;

/** Says so in this protocol's terms, which a plain 404 would leave to guess. */
export const createUnsupportedRoutes = (identify: Identify): Route[] =>
  [
    ...Object.entries(paths).map(([path, message]) => ({ method: 'POST' as const, path, message })),
    ...withoutVersion.map(([method, path]) => {
      return { method, path, message: `This is ${method} /v1${path} here: the base URL of a client ends in /v1.` };
    }),
  ].map(({ method, path, message }) => ({
    method,
    path,
    doc: { summary: 'Not served; the error says what to use', needsKey: true },
    handle(exchange) {
      identify(exchange);
      throw new ServiceError('not_found', message, { details: { code: 'unsupported_endpoint' } });
    },
  }));
