import {
  badRequest,
  checkKey,
  createConnectorServer,
  createJsonReader,
  createThrottle,
  sendJson,
  singleKeyAuth,
  systemClock,
  type Exchange,
  type Route,
  type StartContext,
} from '@svc/connector-kit';
import type { Config } from '../meta.ts';
import { createPracticeChats, type PracticeChats } from './chats.ts';

type Practice = { port: number; url: string; stop(withinMs: number): Promise<void> };
type Answer = (exchange: Exchange) => object | Promise<object>;

const maxChars = 4000;
const maxFileBytes = 5_000_000;
const readJson = createJsonReader({ bodyBytes: 1_000_000, totalBytes: 20_000_000 });

/**
 * A small chat platform within this process, to practise with while there is no real one. Each request must have the token. It forgets
 * everything when it stops. Delete this folder once your platform is connected.
 */
export async function startPracticePlatform(ctx: StartContext<Config>, token: string): Promise<Practice> {
  const auth = singleKeyAuth(token, { identity: 'bot', username: 'Bot' });
  const throttle = createThrottle(systemClock);
  const chats = createPracticeChats();
  const routes = { ...routesOfUsers(chats), ...routesOfTheBot(chats, ctx.signal) };
  const server = createConnectorServer({
    routes: Object.entries(routes).map(([route, answer]) =>
      toRoute(route, async (exchange) => {
        checkKey(exchange, auth, throttle);
        return answer(exchange);
      }),
    ),
    version: ctx.version,
    allowedHosts: ctx.allowedHosts,
    log: ctx.log,
  });
  const { port, url } = await server.listen(ctx.config.port, '127.0.0.1');
  return { port, url, stop: (withinMs) => server.stop(withinMs) };
}

const routesOfUsers = (chats: PracticeChats): Record<string, Answer> => ({
  'POST /say': async ({ req }) => {
    const { user, text } = await textsIn(req);
    if (user === undefined || text === undefined) throw badRequest('"user" (who writes) and "text" (the message) are required.');
    return { shown: await chats.say(user, text) };
  },
  'POST /file': async ({ req }) => {
    const { user, name = 'file', text = `I send you ${name}.` } = queryOf(req);
    if (user === undefined) throw badRequest('"user" (who sends the file) is required.');
    const mime = req.headers['content-type'] ?? 'application/octet-stream';
    return { shown: await chats.say(user, text, { name, mime, bytes: await bytesOf(req) }) };
  },
  'GET /chat': ({ req }) => chats.in(queryOf(req).user ?? ''),
});

const routesOfTheBot = (chats: PracticeChats, signal: AbortSignal): Record<string, Answer> => ({
  'GET /me': () => ({ name: 'practice' }),
  'GET /updates': ({ req }) => {
    const { after = 0, wait_ms = 0 } = queryOf(req);
    return chats.updates(Number(after), Number(wait_ms), signal);
  },
  'POST /messages': async ({ req }) => {
    const { chat = '', text = '', nonce } = await textsIn(req);
    return chats.post({ chat, text: checked(text), ...(nonce !== undefined && { nonce }) });
  },
  'PATCH /messages/:id': async ({ req, params }) => {
    const { text = '' } = await textsIn(req);
    chats.edit(params['id'] ?? '', checked(text));
    return {};
  },
  'DELETE /messages/:id': ({ params }) => {
    chats.remove(params['id'] ?? '');
    return {};
  },
  'POST /typing': () => ({}),
  'GET /files/:id': ({ params }) => chats.file(params['id'] ?? '').bytes,
});

function toRoute(route: string, answer: Answer): Route {
  const [method, path = ''] = route.split(' ');
  return {
    method: method as Route['method'],
    path,
    async handle(exchange) {
      const body = await answer(exchange);
      if (Buffer.isBuffer(body)) exchange.res.end(body);
      else sendJson(exchange, { status: 200, body: JSON.stringify(body) });
    },
  };
}

function checked(text: string): string {
  if (text.trim() === '' || text.length > maxChars) throw badRequest(`A message must have 1 to ${maxChars} characters.`);
  return text;
}

async function bytesOf(req: Exchange['req']): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxFileBytes) throw badRequest(`A file may have at most ${maxFileBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const queryOf = ({ url = '' }: Exchange['req']): Partial<Record<string, string>> =>
  Object.fromEntries(new URL(url, 'http://here').searchParams);

/** The text fields of a JSON body. */
async function textsIn(req: Exchange['req']): Promise<Partial<Record<string, string>>> {
  const fields = Object.entries((await readJson(req)) ?? {}) as [string, unknown][];
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}
