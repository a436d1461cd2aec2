import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Ajv } from 'ajv';
import { envelopeSchema } from '@svc/contract/envelope.ts';
import { maxLinkLine, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import { handleEnvelope } from './handle-envelope.ts';
import { silentSink } from './turn.ts';

export type LinkServer = { close(): Promise<void> };

const maxBufferedBytes = 8 * 1024 * 1024;

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
      for (const socket of sockets) socket.end();
      await closed;
    },
  };
}

const isEnvelope = new Ajv({ strict: false }).compile(envelopeSchema);

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
  let request: LinkRequest;
  try {
    request = JSON.parse(line) as LinkRequest;
  } catch (error) {
    context.log.error({ err: error }, 'a connector sent a line that is not JSON');
    return;
  }
  const { id } = request;
  const requestId = (request.op === 'handle' ? request.request_id : undefined) ?? context.ids.next('req');
  try {
    if (request.op === 'resolve') send({ id, identity: await context.trust.resolve(request.envelope) });
    else send({ id, result: await handleRequest(context, request, requestId, send) });
  } catch (error) {
    const known = toServiceError(error);
    if (known.status >= 500) context.log.error({ err: error, request_id: requestId }, 'turn failed');
    send({ id, error: known.toBody(requestId) });
  }
}

function handleRequest(
  context: CoreContext,
  request: LinkRequest & { op: 'handle' },
  requestId: string,
  send: (reply: LinkReply) => void,
) {
  const { id, envelope, stream } = request;
  if (!isEnvelope(envelope)) {
    const problems = isEnvelope.errors?.map((error) => `${error.instancePath || 'envelope'} ${error.message}`).join('; ');
    throw badRequest(`The envelope is not valid: ${problems}.`);
  }
  const sink = stream ? (frame: Parameters<typeof silentSink>[0]) => send({ id, frame }) : silentSink;
  return handleEnvelope(context, envelope, { sink, requestId });
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
