import type { AddressInfo } from 'node:net';
import type { ControlAction } from '@svc/contract/control.ts';
import type { Session } from '@svc/contract/session.ts';
import { http } from '@svc/service-kit/builtin.ts';
import type { CollectorOptions } from '../src/context.ts';
import { openTestCollector } from './open-test-collector.ts';

/** What the stand-in for the core knows, and what it was asked. */
type Sessions = Record<string, Partial<Session>>;

export const controlToken = 'a-token-of-control';
export const readToken = 'a-token-of-reading';

/** A collector with tokens, beside a stand-in for the core. */
export async function openTestControl(sessions: Sessions = {}, more: Partial<CollectorOptions> = {}) {
  const calls: string[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      calls.push([request.method, request.url, body].filter(Boolean).join(' '));
      const [status, answer] = answerTo(request.url ?? '', body, sessions);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = String((server.address() as AddressInfo).port);
  const env = {
    SVC_INSIGHTS_TOKEN: readToken,
    SVC_INSIGHTS_CONTROL_TOKEN: controlToken,
    SVC_CORE_PORT: port,
    // Nobody listens there.
    SVC_MANAGER_PORT: '1',
    SVC_STOP_TIMEOUT_MS: '2000',
  };
  const collector = openTestCollector(env, undefined, more);

  const send = async (method: 'GET' | 'POST', url: string, body?: object, headers: Record<string, string> = {}) => {
    const authorization = `Bearer ${controlToken}`;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const answer = await collector.app.inject({ method, url, headers: { authorization, ...json, ...headers }, payload });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
  return {
    collector,
    calls,
    send,
    post: (action: string, body: object, headers?: Record<string, string>) =>
      send('POST', `/api/control/${action}`, body, headers),
    read: async <T>(url: string) => (await send('GET', url, undefined, { authorization: `Bearer ${readToken}` })).body as T,
    audit: async () => {
      const { body } = await send('GET', '/api/control/audit', undefined, { authorization: `Bearer ${readToken}` });
      return body['actions'] as ControlAction[];
    },
    close: async () => {
      await collector.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type TestControl = Awaited<ReturnType<typeof openTestControl>>;

function answerTo(url: string, body: string, sessions: Sessions): [number, unknown] {
  const missing: [number, unknown] = [404, { ok: false, error: 'not_found', message: 'There is none.' }];
  if (url === '/v2/abort') {
    const { conversation_key } = JSON.parse(body) as { conversation_key: string };
    return conversation_key === 'busy' ? [200, { ok: true, aborted: conversation_key }] : missing;
  }
  if (url.startsWith('/v2/sessions?')) return [200, { sessions: Object.entries(sessions).map(toSession), next: null }];
  const key = decodeURIComponent(/^\/v2\/session\/(.+)$/.exec(url)?.[1] ?? '');
  const session = sessions[key];
  return session === undefined ? missing : [200, toSession([key, session])];
}

const toSession = ([key, session]: [string, Partial<Session>]) => ({
  conversation_key: key,
  engine_id: null,
  engine_session_id: null,
  model: null,
  title: null,
  claimed_by: null,
  multiplexer: null,
  tmux_target: null,
  cwd: null,
  last_active_at: 1,
  ...session,
});
