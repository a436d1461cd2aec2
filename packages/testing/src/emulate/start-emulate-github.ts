import { hash } from 'node:crypto';
import { createEmulator } from 'emulate';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { freePorts } from '../free-ports.ts';
import { listen } from '../listen.ts';

/** An answered call of a client. */
export type EmulatedCall = { method: string; path: string; body: string; status: number };

/** The GitHub server of `emulate` (third-party), behind a shim that adds what it lacks. */
export type EmulatedGitHub = {
  apiUrl: string;
  /** Tokens by login. */
  tokens: Readonly<Record<string, string>>;
  calls: EmulatedCall[];
  /** Sends a request as a user, bypassing the shim. */
  as<T>(login: string, route: string, body?: object): Promise<T>;
  close(): Promise<void>;
};

type Answer = { status: number; body: unknown; headers?: Record<string, string> };
type Asked = { method: string; url: URL; authorization: string; body: string };
type Comment = { updated_at: string };

const longestBody = 65_536;

/**
 * `emulate` provides issues, comments, labels and accounts, and its answers are passed on unchanged. The shim adds what is missing:
 *
 * - the list of all comments of a repository (its route for one issue takes that path and answers 404), with `since`, `sort` and pages,
 * - `since` of the comments of an issue, which it ignores,
 * - 304 for what has not changed (it gives no ETag),
 * - 401 for a token that it does not know (it takes the first account in its place),
 * - 422 for a text that is too long (it takes any),
 * - reactions, and who edited a text last (GraphQL): it has neither.
 *
 * It counts no limits, loses no answer and serves no git: for those there is `github-server`, which is ours.
 */
export async function startEmulateGitHub(
  logins: readonly string[],
  repo: { owner: string; name: string },
): Promise<EmulatedGitHub> {
  const [port] = await freePorts(1);
  const tokens = Object.fromEntries(logins.map((login) => [login, `ghp_of${login.replaceAll('-', '')}00000000000000000000`]));
  const known = Object.entries(tokens).map(([login, token]) => [token, { login, scopes: ['repo'] }]);
  const github = { users: logins.map((login) => ({ login })), repos: [{ ...repo, auto_init: true }] };
  const seed = { tokens: Object.fromEntries(known) as Record<string, { login: string; scopes: string[] }>, github };
  const emulator = await createEmulator({ service: 'github', port, hostname: '127.0.0.1', seed });
  const calls: EmulatedCall[] = [];

  async function forward({ method, authorization, body }: Omit<Asked, 'url'>, path: string): Promise<Answer> {
    const headers = { authorization, ...(body !== '' && { 'content-type': 'application/json' }) };
    const answered = await fetch(emulator.url + path, { method, headers, ...(body !== '' && { body }) });
    const text = await answered.text();
    const kept = [...answered.headers].filter(([name]) => /^(x-ratelimit|x-oauth|link)/.test(name));
    return { status: answered.status, body: text === '' ? undefined : JSON.parse(text), headers: Object.fromEntries(kept) };
  }

  async function commentsOfAll(asked: Asked, place: string): Promise<Comment[]> {
    const read = async <T>(path: string) => (await forward({ ...asked, method: 'GET', body: '' }, path)).body as T[];
    const issues = await read<{ number: number }>(`${place}?state=all&per_page=100`);
    const found = await Promise.all(issues.map(({ number }) => read<Comment>(`${place}/${number}/comments?per_page=100`)));
    return found.flat();
  }

  async function answer(asked: Asked): Promise<Answer> {
    const { method, url, body } = asked;
    const token = asked.authorization.replace(/^(?:token|bearer) /i, '');
    if (!Object.values(tokens).includes(token)) return { status: 401, body: { message: 'Bad credentials' } };
    if (url.pathname === '/graphql') return { status: 200, body: { data: { node: null } } };
    if (url.pathname.endsWith('/reactions')) return { status: 201, body: { id: 1, content: 'eyes' } };
    if (isTooLong(body)) return { status: 422, body: { message: 'Validation Failed: Body is too long' } };
    const all = /^(\/repos\/[^/]+\/[^/]+\/issues)\/comments$/.exec(url.pathname)?.[1];
    if (method === 'GET' && all !== undefined)
      return { status: 200, body: pageOf(await commentsOfAll(asked, all), url.searchParams) };
    if (method === 'GET' && url.pathname.endsWith('/comments')) {
      const { status, body: comments } = await forward(asked, `${url.pathname}?per_page=100`);
      return { status, body: Array.isArray(comments) ? pageOf(comments as Comment[], url.searchParams) : comments };
    }
    return forward(asked, url.pathname + url.search);
  }

  const server = http.createServer((request, response) => {
    readAsked(request)
      .then(async (asked) => {
        const answered = await answer(asked);
        calls.push({ method: asked.method, path: asked.url.pathname, body: asked.body, status: answered.status });
        send(request, response, answered);
      })
      .catch(() => response.destroy());
  });
  const { url: apiUrl, close } = await listen(server);
  return {
    apiUrl,
    tokens,
    calls,
    async as<T>(login: string, route: string, body?: object) {
      const [method = '', path = ''] = route.split(' ');
      const text = body === undefined ? '' : JSON.stringify(body);
      const answered = await forward({ method, authorization: `token ${tokens[login]}`, body: text }, path);
      if (answered.status >= 400) throw new Error(`emulate answered ${answered.status} to ${route}`);
      return answered.body as T;
    },
    async close() {
      await close();
      await emulator.close();
    },
  };
}

function pageOf(comments: readonly Comment[], query: URLSearchParams): Comment[] {
  const since = Date.parse(query.get('since') ?? '') || 0;
  const size = Number(query.get('per_page') ?? 30);
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  const found = comments.filter(({ updated_at }) => Date.parse(updated_at) >= since);
  const sorted = query.get('sort') === 'updated' ? found.toSorted((a, b) => a.updated_at.localeCompare(b.updated_at)) : found;
  return (query.get('direction') === 'desc' ? sorted.toReversed() : sorted).slice(from, from + size);
}

function isTooLong(body: string): boolean {
  const text = body === '' ? undefined : (JSON.parse(body) as { body?: unknown }).body;
  return typeof text === 'string' && text.length > longestBody;
}

async function readAsked(request: IncomingMessage): Promise<Asked> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const { method = 'GET', url = '/', headers } = request;
  const body = Buffer.concat(parts).toString('utf8');
  return { method, url: new URL(url, 'http://github.test'), authorization: headers.authorization ?? '', body };
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  const etag = `"${hash('sha1', text, 'hex')}"`;
  if (request.method === 'GET' && request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
  response.writeHead(status, { ...headers, ...(text !== '' && { 'content-type': 'application/json', etag }) }).end(text);
}
