import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { HistoryMessage, Session } from '@svc/contract/session.ts';
import { http } from '@svc/service-kit/builtin.ts';

export const dist = path.resolve(import.meta.dirname, '../../../packages/device-gateway/app/dist');

/** The policy that the gateway sends with the app's pages. */
const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; media-src blob:; worker-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svc";

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
};

type Call = { method: string; path: string; query: URLSearchParams; body: Record<string, unknown>; bytes: number };
type Answer = { status: number; body: unknown } | 'cut';

/**
 * A gateway whose frames are all sent by the test: for events that are rare in a real one, such as a stream that ends between two frames. Turns are
 * accepted once by their `message_id`.
 */
export async function startScriptedGateway() {
  const streams = new Set<ServerResponse>();
  const controls = new Set<ServerResponse>();
  const calls: Call[] = [];
  const log: { id: number; type: string; data: object }[] = [];
  const turns = new Map<string, string>();
  const script = {
    history: [] as HistoryMessage[],
    sessions: [] as Partial<Session>[],
    /** Called before a call is answered; undefined: the usual answer. */
    before: (_call: Call): Answer | undefined => undefined,
    /** Called after a message was accepted. */
    onTurn: (_turnId: string, _call: Call): void => undefined,
    pageSize: 50,
    comments: true,
    /** The transcript of the microphone's recording, and the duration of a sentence read aloud. */
    heard: 'what was said',
    speechMs: 200,
    /** The reported version of the app; by default that of its build. */
    version: null as string | null,
  };

  const server = http.createServer((request, response) => void respond(request, response));
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://gateway');
    if (url.pathname === '/service-worker.js') return worker(response);
    if (!url.pathname.startsWith('/gw/')) return file(url.pathname, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const isJson = request.headers['content-type']?.includes('json') === true;
    const body = (isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as Record<string, unknown>;
    const call = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      body,
      bytes: bytes.length,
    };
    calls.push(call);
    const early = script.before(call);
    if (early === 'cut') return void response.destroy();
    if (early !== undefined) return json(response, early.status, early.body);
    if (url.pathname !== '/gw/pair' && request.headers.authorization !== 'Bearer svcd_test')
      return json(response, 401, { error: { message: 'no token' } });
    if (url.pathname === '/gw/stream') return open(request, response);
    if (url.pathname === '/gw/control') return openControl(response);
    if (url.pathname === '/gw/tts')
      return void response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav(script.speechMs));
    return json(response, ...answer(call));
  }

  function worker(response: ServerResponse): void {
    const text = readFileSync(path.join(dist, 'service-worker.js'), 'utf8');
    response
      .writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'no-store' })
      .end(script.version === null ? text : text.replace(/const version = "[^"]+"/, `const version = "${script.version}"`));
  }

  function answer(call: Call): [number, unknown] {
    switch (`${call.method} ${call.path}`) {
      case 'POST /gw/pair':
        return call.body['code'] === 'right'
          ? [200, { ok: true, token: 'svcd_test', device: { id: 'd_1', name: 'Phone' }, assistant: 'Ada', instance_id: 'device' }]
          : [403, { error: { message: 'The code is wrong.' } }];
      case 'POST /gw/turn': {
        const id = String(call.body['message_id']);
        const known = turns.get(id);
        const turnId = known ?? `t${turns.size + 1}`;
        turns.set(id, turnId);
        if (known === undefined) queueMicrotask(() => script.onTurn(turnId, call));
        return [202, { ok: true, conversation_key: 'device:x:device:d_1', message_id: id, turn_id: turnId, state: 'queued' }];
      }
      case 'GET /gw/history': {
        const before = Number(call.query.get('before') ?? script.history.length);
        const begin = Math.max(0, before - script.pageSize);
        return [200, { messages: script.history.slice(begin, before), next: begin === 0 ? null : begin }];
      }
      case 'GET /gw/sessions':
        return [200, { sessions: script.sessions, next: null }];
      case 'POST /gw/upload':
        return [200, { ok: true, file: { id: 'f1', path: `/uploads/${call.query.get('filename')}` } }];
      case 'POST /gw/transcribe':
        return [200, { ok: true, text: script.heard, language: 'en', seconds: 1 }];
      default:
        return [200, { ok: true }];
    }
  }

  function open(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    write(response, log.length, 'ready', { gap: false });
    const last = request.headers['last-event-id'];
    if (typeof last === 'string') for (const { id, type, data } of log) if (id > Number(last)) write(response, id, type, data);
    streams.add(response);
    const timer = setInterval(() => script.comments && response.write(': alive\n\n'), 2000);
    response.on('close', () => {
      clearInterval(timer);
      streams.delete(response);
    });
  }
  function openControl(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    write(response, 0, 'ready', {});
    controls.add(response);
    response.on('close', () => controls.delete(response));
  }
  const write = (response: ServerResponse, id: number, type: string, data: object) =>
    response.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    script,
    calls,
    streams,
    send(type: string, data: object): void {
      const id = log.length + 1;
      log.push({ id, type, data });
      for (const stream of streams) write(stream, id, type, data);
    },
    /** Sends over the control link to every connected device. */
    command(type: string, data: object): void {
      for (const control of controls) write(control, 0, type, data);
    },
    controls,
    cut(): void {
      for (const stream of streams) stream.destroy();
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
export type ScriptedGateway = Awaited<ReturnType<typeof startScriptedGateway>>;

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

function file(pathname: string, response: ServerResponse): void {
  const name = path.join(dist, pathname === '/' ? 'index.html' : path.normalize(pathname));
  if (!existsSync(name)) return void response.writeHead(404).end();
  const type = types[path.extname(name).slice(1)] ?? 'application/octet-stream';
  const kept = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store';
  response
    .writeHead(200, { 'content-type': type, 'content-security-policy': csp, 'cache-control': kept })
    .end(readFileSync(name));
}

/** A tone of a number of ms: a WAV file of 8,000 8-bit samples a second. */
function wav(ms: number): Buffer {
  const samples = Buffer.from(Array.from({ length: ms * 8 }, (_, index) => 128 + Math.round(20 * Math.sin(index / 3))));
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
