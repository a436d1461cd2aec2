import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { readMultipart, readRequest } from '../telegram-server/read-call.ts';
import { ApiError, invalidForm, type UploadedPart } from './api-types.ts';
import type { FoundOperation, OpenApiDescription } from './description/openapi-description.ts';
import { applicationOperations } from './operations/application-operations.ts';
import { interactionOperations } from './operations/interaction-operations.ts';
import { messageOperations } from './operations/message-operations.ts';
import { placeOperations } from './operations/place-operations.ts';
import type { OperationCall, Operations } from './operations/operation-table.ts';
import type { Platform } from './platform.ts';
import type { RateLimits } from './rate-limits.ts';

/** A request of a bot and its answer; without a status when there was none. */
export type RecordedCall = {
  operation: string;
  /** The parameters in the address. */
  at: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  bot: string | null;
  /** Its time, by the monotonic clock. */
  time: number;
  status: number | null;
  /** The error code of a refusal. */
  code?: number;
  /** Ids of the messages that it created or changed. */
  made: string[];
  /** Whether the answer was sent completely, and was true. */
  isAnswered: boolean;
};

export type ReadCall = Omit<OperationCall, 'bot' | 'made'> & {
  found: FoundOperation;
  token: string;
  record: RecordedCall;
};

export type CallResult = { status: number; body: unknown; headers: Record<string, string> };

/** Reads, checks, records and runs the requests of bots. */
export type Calls = {
  recorded: RecordedCall[];
  /** @throws ApiError when the request cannot be read. */
  read(request: IncomingMessage, path: string): Promise<ReadCall>;
  run(call: ReadCall): CallResult;
};

const operations: Operations = { ...applicationOperations, ...placeOperations, ...messageOperations, ...interactionOperations };

/** Fields that discord.js sends although the description lacks them; the API ignores them. */
const ofTheLibrary: Record<string, string[]> = { create_thread_from_message: ['type'] };

/** Errors in a request of a discord.js client. */
export const faultsOf = ({ requestFaults }: OpenApiDescription, id: string, query: URLSearchParams, body: unknown): string[] =>
  requestFaults(id, query, withoutExtras(body, ofTheLibrary[id]));

/** The body without these fields, and without those that discord.js always sets to `false`. */
function withoutExtras(body: unknown, extras: readonly string[] = []): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const said = Object.entries(body).filter(
    ([name, value]) => !extras.includes(name) && (value !== false || !['tts', 'enforce_nonce'].includes(name)),
  );
  // A callback and a forum post contain their message.
  return Object.fromEntries(
    said.map(([name, value]) => [name, ['data', 'message'].includes(name) ? withoutExtras(value) : value]),
  );
}

const created = new Set(['create_thread', 'create_thread_from_message', 'create_application_command']);

export function createCalls(platform: Platform, limits: RateLimits): Calls {
  const recorded: RecordedCall[] = [];
  const { description, note, bots } = platform;

  const check = ({ found, query, body }: ReadCall): void => {
    const faults = faultsOf(description, found.id, query, body);
    for (const fault of faults) note(`${found.id} ${fault}`);
    // Unknown fields are ignored, as by the real API.
    const first = faults.find((fault) => !fault.startsWith('unknown'));
    if (first === undefined) return;
    const [, field = 'body'] = /^(\/\S+) must/.exec(first) ?? [];
    throw invalidForm(field.slice(1), 'BASE_TYPE_CHOICES', first);
  };

  const execute = (call: ReadCall, headers: Record<string, string>): CallResult => {
    const { found, token, record } = call;
    const bot = bots.get(token);
    const isOpen = Object.hasOwn(interactionOperations, found.id);
    if (bot === undefined && !isOpen) throw new ApiError(401, 0, '401: Unauthorized');
    const { channel_id, guild_id, webhook_token } = call.at;
    const place = channel_id ?? guild_id ?? webhook_token ?? '';
    Object.assign(headers, limits.take({ operation: found.id, place, token, isExempt: isOpen }));
    check(call);
    const operation = operations[found.id];
    if (operation === undefined) throw new ApiError(501, 0, `this server does not have ${found.id}`);
    const made = ({ id }: { id: string }): void => void record.made.push(id);
    const body = operation(platform, { ...call, bot: bot as OperationCall['bot'], made });
    const status = body === undefined ? 204 : created.has(found.id) || found.id.startsWith('create_guild_app') ? 201 : 200;
    for (const fault of description.answerFaults(found.id, status, body)) note(`answer to ${found.id} ${fault}`);
    return { status, body, headers };
  };

  return {
    recorded,
    async read(request, path) {
      const raw = await readRequest(request);
      const { pathname, searchParams: query } = new URL(path, 'http://x');
      const found = description.find(request.method ?? '', pathname);
      if (found === undefined) {
        note(`no route ${request.method} ${pathname}`);
        throw new ApiError(404, 0, '404: Not Found');
      }
      if (operations[found.id] === undefined) note(`${found.id}: this server does not have it`);
      const token = (request.headers.authorization ?? '').replace(/^Bot /, '');
      const { body, files } = readBody(raw.body, raw.type);
      const record: RecordedCall = {
        operation: found.id,
        at: found.at,
        query: Object.fromEntries(query),
        body,
        bot: bots.get(token)?.user.username ?? null,
        time: performance.now(),
        status: null,
        made: [],
        isAnswered: false,
      };
      recorded.push(record);
      return { found, at: found.at, query, body, files, token, record };
    },
    run(call) {
      const headers: Record<string, string> = {};
      try {
        const result = execute(call, headers);
        call.record.status = result.status;
        return result;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        Object.assign(call.record, { status: error.status, code: error.code });
        const answer = toAnswer(error);
        return { ...answer, headers: { ...headers, ...answer.headers } };
      }
    },
  };
}

/** The body of a refusal. */
export function toAnswer({ status, code, message, details }: ApiError): CallResult {
  const body = { message, code, ...details };
  if (!('retry_after' in details)) return { status, body, headers: {} };
  const isGlobal = 'global' in details && details.global === true;
  return {
    status,
    body,
    headers: {
      'retry-after': String(details.retry_after),
      via: '1.1 google',
      'x-ratelimit-scope': isGlobal ? 'global' : 'user',
      ...(isGlobal && { 'x-ratelimit-global': 'true' }),
    },
  };
}

/** JSON, or a form whose `payload_json` is the JSON and whose other fields are files. */
export function readBody(body: Buffer, type: string): { body: unknown; files: Map<string, UploadedPart> } {
  const files = new Map<string, UploadedPart>();
  if (body.length === 0) return { body: undefined, files };
  if (!type.startsWith('multipart/form-data')) return { body: parseJson(body.toString('utf8')), files };
  const values = new Map<string, unknown>();
  readMultipart(body, type, { values, files });
  return { body: parseJson(String(values.get('payload_json') ?? '{}')), files };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, 50_109, 'The request body contains invalid JSON.');
  }
}
