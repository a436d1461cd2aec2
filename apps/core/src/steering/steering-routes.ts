import { conversationKeySchema, envelopeSchema } from '@svc/contract/envelope.ts';
import { localActor } from '@svc/contract/trust.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import { letGo } from '../engine/let-go.ts';
import type { Events } from '../events.ts';
import type { Claims } from '../session/claims.ts';
import type { SessionStore } from '../session/session-store.ts';
import { isOperator } from '../terminal/is-operator.ts';
import type { Terminals } from '../terminal/terminals.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import { callerOf, streamTurn, wantsStream, type StreamDeps } from '../turn/stream-turn.ts';
import { createTitleMaker, type TitleDeps } from './make-title.ts';

const key = conversationKeySchema;
/** Text that is not blank. */
const words = { type: 'string', minLength: 1, maxLength: 1_000_000, pattern: '\\S' } as const;
const by = { type: 'string', minLength: 1, maxLength: 100 } as const;

const keyBody = { type: 'object', required: ['conversation_key'], properties: { conversation_key: key } } as const;
const claimBody = { type: 'object', required: ['conversation_key'], properties: { conversation_key: key, by } } as const;
const injectBody = {
  type: 'object',
  required: ['conversation_key', 'text'],
  properties: {
    conversation_key: key,
    text: words,
    by,
    interrupt: { type: 'boolean' },
    message_id: envelopeSchema.properties.message_id,
  },
} as const;
const titleBody = {
  type: 'object',
  required: ['text'],
  properties: { text: words },
} as const;

type Deps = TitleDeps &
  StreamDeps & {
    pipeline: Pick<Pipeline, 'abort' | 'inject' | 'isBusy'>;
    sessions: Pick<SessionStore, 'read'>;
    claims: Pick<Claims, 'claim' | 'release'>;
    terminals: Pick<Terminals, 'refuseOpen'>;
    trust: Pick<TrustService, 'resolve'>;
    events: Pick<Events, 'claim'>;
  };

/** Steering a session from outside its channel (spec: Session control). */
export function mountSteeringRoutes(app: App, deps: Deps): void {
  const { pipeline, sessions, claims, terminals, trust, events } = deps;
  const titles = createTitleMaker(deps);

  app.post('/v2/abort', { schema: { body: keyBody } }, ({ body }) => {
    if (!pipeline.abort(body.conversation_key)) throw notFound('turn in flight for', body.conversation_key);
    return { ok: true, aborted: body.conversation_key };
  });

  app.post('/v2/inject', { schema: { body: injectBody } }, async (request, reply) => {
    const { id, actor } = request;
    const body = { ...request.body, by: nameOf(request), mayType: await isOperator(trust, actor) };
    if (wantsStream(request)) return streamTurn(deps, request, reply, (caller) => pipeline.inject(body, caller, id));
    return pipeline.inject(body, callerOf(reply), id);
  });

  app.post('/v2/claim', { schema: { body: claimBody } }, async ({ body, actor }) => {
    const session = await sessions.read(body.conversation_key);
    if (session === undefined) throw notFound('session', body.conversation_key);
    const { engine_id, engine_session_id, cwd, claimed_by } = session;
    const claimer = nameOf({ body, actor }) ?? 'terminal';
    if (engine_session_id === null) throw conflict('The session has no engine session to continue yet. Send it a message first.');
    if (claimed_by !== null && claimed_by !== claimer)
      throw conflict(`The session is already claimed by ${claimed_by}.`, { claimed_by });
    if (pipeline.isBusy(body.conversation_key)) {
      throw conflict('A turn of this session is in flight. Abort it (POST /v2/abort), or claim when it is done.');
    }
    await claims.claim(body.conversation_key, claimer);
    events.claim(body.conversation_key, 'claimed', claimer);
    await letGo(deps.engines, engine_id, engine_session_id);
    return { ok: true, conversation_key: body.conversation_key, claimed_by: claimer, engine_id, engine_session_id, cwd };
  });

  app.post('/v2/release', { schema: { body: keyBody } }, async ({ body }) => {
    const session = await sessions.read(body.conversation_key);
    if (session === undefined) throw notFound('session', body.conversation_key);
    // The channel would continue beside the running program.
    terminals.refuseOpen(body.conversation_key);
    await claims.release(body.conversation_key);
    if (session.claimed_by !== null) events.claim(body.conversation_key, 'released', session.claimed_by);
    return { ok: true, released: body.conversation_key };
  });

  app.post('/v2/title', { schema: { body: titleBody } }, async ({ body }) => ({
    ok: true,
    title: await titles.title(body.text),
  }));
}

/** An authenticated actor is named as such, whatever the body says; a program of this machine names itself. */
const nameOf = ({ actor, body }: { actor: string; body: { by?: string } }): string | undefined =>
  actor === localActor ? body.by : actor.slice(0, by.maxLength);
