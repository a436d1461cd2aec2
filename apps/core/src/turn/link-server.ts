import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { envelopeSchema } from '@svc/contract/envelope.ts';
import { maxLinkLine, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import { handleEnvelope } from './handle-envelope.ts';
import { silentSink, type TurnSink } from './turn.ts';

export type LinkServer = { close(): Promise<void> };

const maxBufferedBytes = 8 * 1024 * 1024;
/** How long a connector may take to end its side of the link. */
const goodbyeMs = 500;

/**
 * The connectors' way in: a unix socket of JSON lines (`contract/link.ts`), onto the same function as `POST /v2/handle`.
 * The socket lies in a folder only this user can enter. A connector that goes away ends no turn.
 */
export async function openLinkServer(context: CoreContext, socketPath: string): Promise<LinkServer> {
  makePrivateDir(path.dirname(socketPath));
  rmSync(socketPath, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(context, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  chmodSync(socketPath, 0o600);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) {
        socket.end();
        setTimeout(() => socket.destroy(), goodbyeMs).unref();
      }
      await closed;
    },
  };
}

const requestSchema = {
  type: 'object',
  required: ['op', 'id', 'envelope'],
  properties: {
    op: { enum: ['handle', 'resolve'] },
    id: { type: 'integer' },
    request_id: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
    envelope: { type: 'object' },
  },
} as const;

const ajv = new Ajv({ strict: false });
const isRequest = ajv.compile<LinkRequest>(requestSchema);
const isEnvelope = ajv.compile(envelopeSchema);
/** A sender to resolve is an envelope without content. */
const isSender = ajv.compile({ ...envelopeSchema, required: ['channel', 'sender'] });

function serve(context: CoreContext, socket: Socket): void {
  const send = createWriter(socket);
  const splitter = createLineSplitter(
    maxLinkLine,
    (line) => void answer(context, line, send),
    () => {
      context.log.error('a connector sent a line that is too long; its link is closed');
      socket.destroy();
    },
  );
  socket.on('data', (chunk) => splitter.push(chunk));
  socket.on('error', (error) => context.log.warn({ err: error }, 'a connector link broke'));
}

async function answer(context: CoreContext, line: string, send: (reply: LinkReply) => void): Promise<void> {
  const request = parseLine(line);
  const { id } = request;
  if (id === null) {
    context.log.error('a connector sent a line that is no request; nobody can be told');
    return;
  }
  const requestId = request.requestId ?? context.ids.next('req');
  try {
    if (request.value === null) throw badRequest(`The request is not valid: ${request.problems}.`);
    send(await serveRequest(context, request.value, requestId, send));
  } catch (error) {
    const known = toServiceError(error);
    if (known.status >= 500) context.log.error({ err: error, request_id: requestId }, 'turn failed');
    send({ id, error: known.toBody(requestId) });
  }
}

/** What a line holds: a request, or its problems; without an id there is nobody to answer. */
function parseLine(line: string): { id: number | null; requestId?: string; value: LinkRequest | null; problems: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { id: null, value: null, problems: 'it is not JSON' };
  }
  if (!isRequest(value)) {
    const id = (value as { id?: unknown } | null)?.id;
    return { id: typeof id === 'number' ? id : null, value: null, problems: inWords(isRequest.errors) };
  }
  const isWhole = value.op === 'handle' ? isEnvelope : isSender;
  if (!isWhole(value.envelope)) return { id: value.id, value: null, problems: inWords(isWhole.errors) };
  return { id: value.id, requestId: value.op === 'handle' ? value.request_id : undefined, value, problems: '' };
}

const inWords = (errors: ErrorObject[] | null | undefined): string =>
  (errors ?? []).map((error) => `${error.instancePath || 'request'} ${error.message}`).join('; ');

async function serveRequest(
  context: CoreContext,
  request: LinkRequest,
  requestId: string,
  send: (reply: LinkReply) => void,
): Promise<LinkReply> {
  const { id } = request;
  if (request.op === 'resolve') return { id, identity: await context.trust.resolve(request.envelope) };
  const sink: TurnSink = request.stream ? (frame) => send({ id, frame }) : silentSink;
  return { id, result: await handleEnvelope(context, request.envelope, { sink, requestId }) };
}

/** Gathers the lines of one tick into one write. A reader that stops reading is cut off instead of filling memory. */
function createWriter(socket: Socket): (reply: LinkReply) => void {
  let pending = '';
  const flush = () => {
    const text = pending;
    pending = '';
    if (socket.destroyed) return;
    socket.write(text);
    if (socket.writableLength > maxBufferedBytes) socket.destroy();
  };
  return (reply) => {
    if (pending === '') setImmediate(flush);
    pending += `${JSON.stringify(reply)}\n`;
  };
}
