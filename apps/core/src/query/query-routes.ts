import { createHash } from 'node:crypto';
import { channelPattern } from '@svc/contract/envelope.ts';
import { anonymousSender } from '@svc/contract/trust.ts';
import { textOf } from '@svc/contract/turn.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Pipeline } from '../turn/pipeline.ts';

type Deps = { pipeline: Pick<Pipeline, 'handle'>; ids: Ids };

const queryBody = {
  type: 'object',
  required: ['message'],
  properties: {
    message: { type: 'string', minLength: 1, maxLength: 1_000_000 },
    sessionId: { type: 'string', minLength: 1, maxLength: 200 },
    userId: { type: 'string', minLength: 1, maxLength: 200 },
    username: { type: 'string', maxLength: 200 },
    platform: { type: 'string', pattern: channelPattern },
    /** Accepted for old callers and ignored: it proves nothing here. */
    apiKey: { type: 'string' },
  },
} as const;

/**
 * `POST /query`: the old question-and-answer call, converted to an envelope. A session belongs to the platform and user that named it, so
 * that no caller can reach another's by its id.
 */
export function mountQueryRoutes(app: App, { pipeline, ids }: Deps): void {
  app.post('/query', { schema: { body: queryBody } }, async ({ body, id }, reply) => {
    const { message, userId = anonymousSender, username, platform = 'query' } = body;
    const sessionId = body.sessionId ?? ids.next('query');
    const handled = await pipeline.handle(
      {
        channel: platform,
        conversation_key: `${platform}:query:${keyPart(userId)}:${keyPart(sessionId)}`,
        message_id: ids.next('msg'),
        sender: { raw_id: userId, raw_username: username },
        content: { text: message },
        delivery: 'sync',
      },
      { sink: null, isGone: () => reply.raw.destroyed },
      id,
    );
    if (handled.outcome === 'denied') throw new ServiceError('no_access', 'no access');
    return { response: textOf(handled.actions), sessionId };
  });
}

/** A name as a part of a key: unchanged where possible, else its digest, so that no two names produce the same key. */
function keyPart(name: string): string {
  const part = name.isWellFormed() ? encodeURIComponent(name) : null;
  return part !== null && part.length <= 200 ? part : `~${createHash('sha256').update(name, 'utf16le').digest('hex')}`;
}
