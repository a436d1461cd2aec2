import { randomUUID } from 'node:crypto';
import {
  badRequest,
  checkKey,
  createConnectorServer,
  createJsonReader,
  createOutboundRoutes,
  createThrottle,
  sendJson,
  ServiceError,
  singleKeyAuth,
  systemClock,
  type ConnectorServer,
  type Exchange,
  type Outbound,
  type Route,
  type StartContext,
} from '@svc/connector-kit';
import { placeOf } from './write-params.ts';

type Context = Pick<StartContext, 'outboundAccess' | 'dataDir' | 'log' | 'signal' | 'version' | 'uploads' | 'stopTimeoutMs'>;

export type OutboundServerDeps = {
  send: NonNullable<Outbound['send']>;
  /** What a program of this machine shows; null: the manager alone may send. */
  key: string | null;
  /** Whether something may be sent there, before a file for it is kept. @throws ServiceError `unprocessable` */
  checkTarget(target: string): void;
  /** The conversation that a target belongs to. */
  keyOf(target: string): string;
  maxFileBytes: number;
};

type Kind = 'text' | 'photo' | 'document';
type Message = { id: string; target: string; text?: string; path?: string; caption?: string };

const mib = 1024 * 1024;
const sendWithinMs = 60_000;

/** `/out` and the other routes of the manager, and `/send`, `/send-photo` and `/send-document` for programs of this machine. */
export function createOutboundServer(ctx: Context, deps: OutboundServerDeps): ConnectorServer {
  return createConnectorServer({
    routes: [...createOutboundRoutes(ctx, { send: deps.send }), ...createSendRoutes(ctx, deps)],
    version: ctx.version,
    allowedHosts: [],
    renderError: (error, { requestId }) => ({ status: error.status, body: JSON.stringify(error.toBody(requestId)) }),
    log: ctx.log,
  });
}

export function createSendRoutes({ uploads, signal }: Pick<Context, 'uploads' | 'signal'>, deps: OutboundServerDeps): Route[] {
  const { send, checkTarget, keyOf, maxFileBytes } = deps;
  const readJson = createJsonReader({ bodyBytes: 2 * mib, totalBytes: 16 * mib });
  const check = createKeyCheck(deps.key);

  async function show(exchange: Exchange, kind: Kind, message: Message): Promise<void> {
    await send({ ...message, kind }, AbortSignal.any([signal, AbortSignal.timeout(sendWithinMs)]));
    sendJson(exchange, { status: 200, body: JSON.stringify({ ok: true, id: message.id }) });
  }

  async function saveFile({ req, body }: Exchange): Promise<Message> {
    const { searchParams: query } = new URL(req.url ?? '', 'http://localhost');
    const { id, target } = toPlace({
      chat_id: query.get('chat_id'),
      topic_id: query.get('topic_id'),
      id: query.get('id') ?? undefined,
    });
    const name = query.get('name') ?? '';
    if (!/^[^/\\\p{Cc}]{1,200}$/u.test(name)) throw badRequest('"name" has to be the name of the file, such as ?name=list.pdf.');
    checkTarget(target);
    const mime = req.headers['content-type'];
    const { path } = await uploads.save({ name, mime, data: body, conversation_key: keyOf(target), maxBytes: maxFileBytes });
    return { id, target, path, ...optional('caption', query.get('caption') ?? undefined) };
  }

  /** One that cannot be opened is the fault of who named it, and no message for the chat. */
  async function findFile({ req }: Exchange): Promise<Message> {
    const message = toFileMessage(await readJson(req));
    (await uploads.open(message.path)).data.destroy();
    return message;
  }

  const fileRoute = (path: string, kind: Kind, what: string): Route => ({
    method: 'POST',
    path,
    doc: {
      summary: `Sends ${what}: one of the upload area by its "path", or as the body, with chat_id, name and caption in the query`,
      needsKey: true,
      body: {
        type: 'object',
        required: ['chat_id', 'path'],
        properties: { ...placeFields, path: textField, caption: textField },
      },
      reply: replySchema,
    },
    streamsBody: { maxBytes: maxFileBytes },
    async handle(exchange) {
      check(exchange);
      const isJson = /^application\/json\b/i.test(exchange.req.headers['content-type'] ?? '');
      await show(exchange, kind, isJson ? await findFile(exchange) : await saveFile(exchange));
    },
  });

  return [
    {
      method: 'POST',
      path: '/send',
      doc: {
        summary: 'Sends a text, written in Markdown',
        needsKey: true,
        body: { type: 'object', required: ['chat_id', 'text'], properties: { ...placeFields, text: textField } },
        reply: replySchema,
      },
      async handle(exchange) {
        check(exchange);
        await show(exchange, 'text', toTextMessage(await readJson(exchange.req)));
      },
    },
    fileRoute('/send-photo', 'photo', 'a picture'),
    fileRoute('/send-document', 'document', 'a file'),
  ];
}

const textField = { type: 'string' } as const;
const placeFields = {
  chat_id: { type: ['integer', 'string'], description: 'A number, or the @name of a public group.' },
  topic_id: { type: 'integer', description: 'A topic of the group.' },
  id: { type: 'string', description: 'The same in every attempt: what was shown under it once is not shown again.' },
} as const;
const replySchema = {
  type: 'object',
  required: ['ok', 'id'],
  properties: { ok: { const: true }, id: { type: 'string' } },
} as const;

function createKeyCheck(key: string | null): (exchange: Exchange) => void {
  const auth = key === null ? null : singleKeyAuth(key, { identity: 'local', username: 'local' });
  const throttle = createThrottle(systemClock);
  return (exchange) => {
    if (auth !== null) return void checkKey(exchange, auth, throttle);
    throw new ServiceError(
      'unauthorized',
      'No key is set for this. Set one (./svc connector config NAME --secret send_key_secret_key), or use POST /send of the manager.',
    );
  };
}

/** @throws ServiceError `bad_request` */
function toPlace({ chat_id: chat, topic_id: topic, id = randomUUID() }: Record<string, unknown>): Pick<Message, 'id' | 'target'> {
  const target = [chat, topic].filter((each) => each !== undefined && each !== null).join(':');
  if (chat === undefined || chat === null) throw badRequest('"chat_id" says where it goes.');
  if (typeof id !== 'string' || !/^[\w.:-]{1,200}$/.test(id)) throw badRequest('"id" has to be a plain name.');
  placeOf(target);
  return { id, target };
}

function toTextMessage(body: unknown): Message {
  const { text, ...place } = toRecord(body);
  if (typeof text !== 'string' || text.trim() === '') throw badRequest('"text" is missing.');
  return { ...toPlace(place), text };
}

function toFileMessage(body: unknown): Message & { path: string } {
  const { path, caption, ...place } = toRecord(body);
  if (typeof path !== 'string' || path === '')
    throw badRequest('"path" names a file of the upload area. Or send the file as the body.');
  if (caption !== undefined && typeof caption !== 'string') throw badRequest('"caption" has to be a text.');
  return { ...toPlace(place), path, ...optional('caption', caption) };
}

const optional = (name: string, value: string | undefined): object => (value === undefined ? {} : { [name]: value });

function toRecord(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw badRequest('Send a JSON object.');
}
