import { randomUUID } from 'node:crypto';
import { isRecord } from '@svc/contract/json-value.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { checkKey, singleKeyAuth } from '../check-key.ts';
import type { Outbound, StartContext } from '../connector.ts';
import { sendJson, type Exchange } from '../http/exchange.ts';
import { createJsonReader } from '../http/read-json.ts';
import type { Route } from '../http/route-table.ts';
import { createThrottle } from '../throttle.ts';

export type SendRoutesDeps = {
  send: NonNullable<Outbound['send']>;
  /** The key of programs on this machine; null: only the manager may send. */
  key: string | null;
  /** Checks whether a target may be sent to, before a file for it is stored. @throws ServiceError */
  checkTarget(target: string): void;
  /** The conversation that a target belongs to. */
  keyOf(target: string): string;
  maxFileBytes: number;
  place: {
    /** JSON Schemas of the fields that identify a place, by name. */
    fields: Readonly<Record<string, object>>;
    required: readonly string[];
    /** The target that the fields identify. In a query all values are texts. @throws ServiceError when they identify none */
    toTarget(fields: Readonly<Record<string, unknown>>): string;
  };
  /** Routes that accept files: their paths, the kind of message that each sends, and a description. */
  files: readonly { path: string; kind: string; what: string }[];
};

type Message = { id: string; target: string; text?: string; path?: string; caption?: string };

const mib = 1024 * 1024;
const sendWithinMs = 60_000;

/** `/send` and the routes for files, for programs on this machine. */
export function createSendRoutes({ uploads, signal }: Pick<StartContext, 'uploads' | 'signal'>, deps: SendRoutesDeps): Route[] {
  const { send, checkTarget, keyOf, maxFileBytes, place } = deps;
  const required = [...place.required];
  const fields = { ...place.fields, id: idField };
  const readJson = createJsonReader({ bodyBytes: 2 * mib, totalBytes: 16 * mib });
  const check = createKeyCheck(deps.key);

  /** @throws ServiceError `bad_request` */
  const toPlace: ToPlace = ({ id = randomUUID(), ...rest }) => {
    for (const name of required)
      if (rest[name] === undefined) throw badRequest(`"${name}" is required: it says where the message goes.`);
    if (typeof id !== 'string' || !/^[\w.:-]{1,200}$/.test(id))
      throw badRequest('"id" must have 1 to 200 letters, digits or any of _ . : -');
    return { id, target: place.toTarget(rest) };
  };

  async function show(exchange: Exchange, kind: string, message: Message): Promise<void> {
    await send({ ...message, kind }, AbortSignal.any([signal, AbortSignal.timeout(sendWithinMs)]));
    sendJson(exchange, { status: 200, body: JSON.stringify({ ok: true, id: message.id }) });
  }

  async function saveFile({ req, body }: Exchange): Promise<Message> {
    const { searchParams: query } = new URL(req.url ?? '', 'http://localhost');
    const given = Object.keys(fields).map((name) => [name, query.get(name) ?? undefined] as const);
    const { id, target } = toPlace(Object.fromEntries(given));
    const name = query.get('name') ?? '';
    if (!/^[^/\\\p{Cc}]{1,200}$/u.test(name)) throw badRequest('"name" must be the file name, such as ?name=list.pdf.');
    checkTarget(target);
    const mime = req.headers['content-type'];
    const { path } = await uploads.save({ name, mime, data: body, conversation_key: keyOf(target), maxBytes: maxFileBytes });
    return { id, target, path, ...optional('caption', query.get('caption') ?? undefined) };
  }

  /** A file that cannot be opened is an error of the caller, and not a message for the chat. */
  async function findFile({ req }: Exchange): Promise<Message> {
    const message = toFileMessage(await readJson(req), toPlace);
    (await uploads.open(message.path)).data.destroy();
    return message;
  }

  const fileRoute = ({ path, kind, what }: SendRoutesDeps['files'][number]): Route => ({
    method: 'POST',
    path,
    doc: {
      summary: `Sends ${what}: one of the upload area by its "path", or as the body, with ${required.join(', ')}, name and caption in the query`,
      needsKey: true,
      body: {
        type: 'object',
        required: [...required, 'path'],
        properties: { ...fields, path: textField, caption: textField },
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
        body: { type: 'object', required: [...required, 'text'], properties: { ...fields, text: textField } },
        reply: replySchema,
      },
      async handle(exchange) {
        check(exchange);
        await show(exchange, 'text', toTextMessage(await readJson(exchange.req), toPlace));
      },
    },
    ...deps.files.map(fileRoute),
  ];
}

const textField = { type: 'string' } as const;
const idField = {
  type: 'string',
  description: 'Use the same id for every attempt: a message is shown only once per id.',
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
      'No key for sending is set. Set one (./svc connector config NAME --secret send_key_secret_key), or use POST /send of the manager.',
    );
  };
}

type ToPlace = (fields: Record<string, unknown>) => Pick<Message, 'id' | 'target'>;

function toTextMessage(body: unknown, toPlace: ToPlace): Message {
  const { text, ...place } = toRecord(body);
  if (typeof text !== 'string' || text.trim() === '') throw badRequest('"text" is missing.');
  return { ...toPlace(place), text };
}

function toFileMessage(body: unknown, toPlace: ToPlace): Message & { path: string } {
  const { path, caption, ...place } = toRecord(body);
  if (typeof path !== 'string' || path === '')
    throw badRequest('"path" must name a file of the upload area. Or send the file as the body.');
  if (caption !== undefined && typeof caption !== 'string') throw badRequest('"caption" must be a string.');
  return { ...toPlace(place), path, ...optional('caption', caption) };
}

const optional = (name: string, value: string | undefined): object => (value === undefined ? {} : { [name]: value });

function toRecord(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw badRequest('Send a JSON object.');
}
