import { hash } from 'node:crypto';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { answerWith, takesEffect } from '../chat-platform/platform-faults.ts';
import { listen } from '../listen.ts';
import { readApiContract } from './description/api-contract.ts';
import { isLimit, type ChooseGitHubFault, type GitHubFault } from './github-faults.ts';
import { createLimits, documentedLimits, type GitHubLimits, type Offence } from './github-limits.ts';
import { runQuery } from './github-graphql.ts';
import { makesText, runCall, type Answer, type Call } from './github-routes.ts';
import { createStore, type GitHubStore, type GitHubUser } from './github-store.ts';

export type GitHubServerOptions = {
  /** The account of the token. */
  login?: string;
  token?: string;
  /** The scopes of a classic token; null for a fine-grained one, which has no such header. */
  scopes?: string | null;
  /** No limits by default; `{}`: the documented ones. */
  limits?: Partial<GitHubLimits>;
  /** How much faster the limits' time goes. */
  timeScale?: number;
  /** How far its clock is ahead of ours, ms. */
  aheadMs?: number;
  /** The share of lists with a duplicate entry. */
  doubled?: { random: () => number; share: number };
  clock?: Clock;
};

/** An authenticated call. `isAnswered`: its result was sent completely. */
export type RecordedCall = { method: string; path: string; body: unknown; status: number; at: number; isAnswered: boolean };

export type GitHubServer = GitHubStore & {
  /** The value for `api_url`. */
  apiUrl: string;
  token: string;
  bot: GitHubUser;
  /** All authenticated calls, in order. */
  calls: RecordedCall[];
  /** Calls and own answers that violate GitHub's description. */
  violations: string[];
  /** Exceeded limits. */
  offences: Offence[];
  /** The faults of requests; none at first. */
  fault: ChooseGitHubFault;
  /** Gives each of the next matching calls (`POST /repos/…`) one of these faults. */
  failNext(calls: RegExp, ...faults: GitHubFault[]): void;
  cutConnections(): void;
  close(): Promise<void>;
};

/**
 * A small server of GitHub's REST API on loopback, modelled on the documented behaviour. Calls and answers are checked against the published
 * description: a test ends with `expect(server.violations).toEqual([])`.
 *
 *     const server = await startGitHubServer();
 *     const ann = server.user('ann', { association: 'OWNER' });
 *     const repo = server.repo('ann', 'demo', false);
 *     const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant look' });
 *     await expect.poll(() => issue.comments.map(({ body }) => body)).toEqual(['…']);
 */
export async function startGitHubServer(options: GitHubServerOptions = {}): Promise<GitHubServer> {
  const { token = 'ghp_thetokenofthebot000000000000000000000', clock = systemClock, timeScale = 1, aheadMs = 0 } = options;
  const store = createStore(clock, aheadMs);
  const bot = store.user(options.login ?? 'svc-bot', { association: 'COLLABORATOR' });
  const limits = createLimits(options.limits === undefined ? null : { ...documentedLimits, ...options.limits }, clock, timeScale);
  const contract = readApiContract();
  const queued: { calls: RegExp; fault: GitHubFault }[] = [];

  const choose = (call: Call): GitHubFault | undefined => {
    const at = queued.findIndex(({ calls }) => calls.test(`${call.method} ${call.path}`));
    return at === -1 ? server.fault(call) : queued.splice(at, 1)[0]?.fault;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await readCall(request, bot);
    const given = /^(?:token|bearer) (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given !== token) return send(response, { status: 401, body: { message: 'Bad credentials' } });
    const fault = choose(call);
    if (fault === 'cut before') return void response.destroy();
    const retryAfterS = isLimit(fault) ? fault.retryAfterS : limits.take(call.method, makesText(call));
    if (isLimit(fault) && fault.limit === 'primary') return send(response, exhausted(clock, fault.retryAfterS, aheadMs));
    if (retryAfterS !== null) return send(response, tooMany(retryAfterS));
    const result = takesEffect(fault as never) ? run(call) : { status: 200, body: {} };
    const record = { method: call.method, path: call.path, body: call.body, status: result.status, at: clock.elapsed() };
    const recorded: RecordedCall = { ...record, isAnswered: false };
    if (takesEffect(fault as never)) server.calls.push(recorded);
    const isTrue = fault === undefined || (typeof fault === 'object' && 'slowMs' in fault);
    response.once('finish', () => (recorded.isAnswered = isTrue));
    send(response, withHeaders(result, call, request), fault);
  };

  function run(call: Call): Answer {
    if (call.path === '/graphql') {
      const { faults, ...given } = runQuery(call, store);
      server.violations.push(...faults);
      return given;
    }
    const hasBody = call.method !== 'GET' && call.method !== 'DELETE';
    server.violations.push(...contract.callFaults({ ...call, body: hasBody ? call.body : undefined }));
    const result = runCall(call, store);
    if (result.status < 400) server.violations.push(...contract.answerFaults(call, result.status, result.body));
    return { ...result, body: doubled(result.body) };
  }

  function doubled(body: unknown): unknown {
    const { random, share } = options.doubled ?? { random: () => 1, share: 0 };
    return Array.isArray(body) && body.length > 0 && random() < share ? [body[0], ...body] : body;
  }

  function withHeaders(
    { status, body }: Answer,
    call: Call,
    request: IncomingMessage,
  ): Answer & { headers: Record<string, string> } {
    const headers: Record<string, string> = { date: new Date(clock.now() + aheadMs).toUTCString() };
    const scopes = options.scopes === undefined ? 'repo' : options.scopes;
    if (call.path === '/user' && scopes !== null) headers['x-oauth-scopes'] = scopes;
    if (call.method !== 'GET' || status !== 200) return { status, body, headers };
    const etag = `W/"${hash('sha1', JSON.stringify(body), 'hex')}"`;
    headers['etag'] = etag;
    return request.headers['if-none-match'] === etag ? { status: 304, body: undefined, headers } : { status, body, headers };
  }

  const httpServer = http.createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      server.violations.push(`this server failed: ${error instanceof Error ? error.stack : String(error)}`);
      response.destroy();
    });
  });
  const { url, close } = await listen(httpServer);
  const server: GitHubServer = {
    ...store,
    apiUrl: url,
    token,
    bot,
    calls: [],
    violations: [],
    offences: limits.offences,
    fault: () => undefined,
    failNext: (calls, ...faults) => queued.push(...faults.map((fault) => ({ calls, fault }))),
    cutConnections: () => httpServer.closeAllConnections(),
    close,
  };
  return server;
}

async function readCall(request: IncomingMessage, user: GitHubUser): Promise<Call> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://github.test');
  const text = Buffer.concat(parts).toString('utf8');
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { method: request.method ?? 'GET', path: pathname, query: searchParams, body, user };
}

const tooMany = (seconds: number): Answer & { headers: Record<string, string> } => ({
  status: 403,
  body: {
    message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
  },
  headers: { 'retry-after': String(seconds) },
});

const exhausted = (clock: Clock, seconds: number, aheadMs: number): Answer & { headers: Record<string, string> } => ({
  status: 403,
  body: { message: 'API rate limit exceeded for user ID 1.' },
  headers: {
    date: new Date(clock.now() + aheadMs).toUTCString(),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil((clock.now() + aheadMs) / 1000) + seconds),
  },
});

function send(
  response: ServerResponse,
  { status, body, headers = {} }: Answer & { headers?: Record<string, string> },
  fault?: GitHubFault,
) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === undefined && fault === undefined) return void response.writeHead(status).end();
  answerWith(response, status, Buffer.from(JSON.stringify(body ?? null)), 'application/json', isLimit(fault) ? undefined : fault);
}
