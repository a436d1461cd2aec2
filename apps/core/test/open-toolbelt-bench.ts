import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { ToolPolicy, Tier } from '@svc/contract/trust.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { ChannelMessage } from '../src/delivery/channel-sender.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';
import { callTool, toolbeltOf, type Called } from './call-tool.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

export const operatorToken = 'operator-token-0123456789';
/** A secret that the core knows. */
export const planted = 'sk-planted-secret-4711';

/** Where a turn comes from: the messenger, with a place that can be pushed to. */
export const from = (who: string, over: Partial<Envelope> = {}): Envelope =>
  envelope('go', {
    channel: 'messenger',
    conversation_key: `messenger:m1:user:${who}`,
    sender: { raw_id: who, raw_username: who },
    channel_context: { chatId: `chat-${who}` },
    ...over,
  });
export const fromOwner = (over: Partial<Envelope> = {}) => envelope('go', over);

export const tokenOf = (request: EngineRequest): string =>
  (toolbeltOf(request).headers['Authorization'] ?? '').replace('Bearer ', '');

/**
 * A core with its toolbelt between stand-ins of collector and manager, for the tests of one file. `trusted` is TRUSTED,
 * `reader` (who may only read) and `worker` are KNOWN, `visitor` is a GUEST; each writes over the messenger.
 */
export function openToolbeltBench() {
  let core: TestCore;
  let collector: StandIn;
  let manager: StandIn;
  let coreUrl: string;
  const sent: ChannelMessage[] = [];

  beforeAll(async () => {
    [collector, manager] = await Promise.all([startStandIn(), startStandIn()]);
    const [corePort] = await freePorts(1);
    core = await openTestCore({
      toolbelt: true,
      env: {
        SVC_CORE_PORT: String(corePort),
        SVC_COLLECTOR_PORT: String(collector.port),
        SVC_MANAGER_PORT: String(manager.port),
        SVC_INSIGHTS_TOKEN: 'insights-token-of-the-test',
        SVC_MANAGER_TOKEN: 'manager-token-of-the-test',
        SVC_TOOLBELT_TOKEN: operatorToken,
        PLANTED_KEY: planted,
        PATH: process.env['PATH'] ?? '',
      },
      sendToChannel: (message) => {
        sent.push(message);
        return Promise.resolve({ delivered: true });
      },
    });
    coreUrl = await core.app.listen({ host: '127.0.0.1', port: corePort });
    await addPerson(core, 'trusted', 'TRUSTED', 'full');
    await addPerson(core, 'reader', 'KNOWN', 'read');
    await addPerson(core, 'worker', 'KNOWN', 'full');
    await addPerson(core, 'visitor', 'GUEST', 'full');
  });
  afterAll(async () => {
    await core.close();
    await Promise.all([collector.close(), manager.close()]);
  });
  beforeEach(() => {
    sent.length = 0;
    for (const standIn of [collector, manager]) {
      standIn.requests.length = 0;
      standIn.answers.clear();
    }
    collector.answers.set('/api/sessions', { sessions: [] });
    manager.answers.set('/send/targets', { targets: [] });
  });
  afterEach(() =>
    core.engine.script(async function* () {
      yield* says('ok');
    }),
  );

  /** Runs a turn whose engine does something with its tools, and gives what that came to. */
  async function inTurn<T>(message: Envelope, use: (request: EngineRequest) => Promise<T>): Promise<T> {
    const done = Promise.withResolvers<T>();
    done.promise.catch(() => undefined);
    const script: EngineScript = async function* (request) {
      try {
        done.resolve(await use(request));
      } catch (error) {
        done.reject(error instanceof Error ? error : new Error(String(error)));
      }
      yield* says('done');
    };
    core.engine.script(script);
    expect((await core.handle(message)).json()).toMatchObject({ outcome: 'replied' });
    return done.promise;
  }

  const call = (message: Envelope, name: string, input: object = {}): Promise<Called> =>
    inTurn(message, (request) => callTool(toolbeltOf(request), name, input));

  return {
    /** What was pushed to channels in this test. */
    sent,
    inTurn,
    call,
    /** A call of a tool with a token, or without one. */
    direct: (token: string | null, tool = 'svc_sessions', body: unknown = {}) =>
      requestJson<{ error?: string; message?: string }>(`${coreUrl}/v2/toolbelt/${tool}`, {
        token: token === null ? null : new Secret(token),
        body,
        timeoutMs: 40_000,
      }),
    get core() {
      return core;
    },
    get collector() {
      return collector;
    },
    get manager() {
      return manager;
    },
    /** Stops the collector for as long as `use` takes. */
    async withoutCollector(use: () => Promise<void>): Promise<void> {
      await collector.close();
      try {
        await use();
      } finally {
        collector = await startStandIn(collector.port);
      }
    },
  };
}

async function addPerson(core: TestCore, key: string, tier: Tier, tool_policy: ToolPolicy): Promise<void> {
  const { db, clock } = core.context;
  const role = { name: `role-${key}`, tier, tool_policy, surfaces: '*' as const, description: '' };
  await createTrustStore(db, clock, randomIds).addRole(role);
  await core.addPrincipal(key, role.name, 'messenger');
}

/** Stands for another process of ours: answers by path, and notes what came. */
async function startStandIn(port = 0) {
  const requests: { url: string; authorization: string | undefined; body: unknown }[] = [];
  const answers = new Map<string, unknown>();
  const server = http.createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { url = '', headers } = request;
      requests.push({ url, authorization: headers.authorization, body: text === '' ? null : JSON.parse(text) });
      const answer = answers.get(url.split('?')[0] ?? '');
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { ok: false, error: 'not_found', message: 'no such route' }));
    })();
  });
  return { ...(await listen(server, port)), requests, answers };
}
type StandIn = Awaited<ReturnType<typeof startStandIn>>;
