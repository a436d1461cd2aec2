import { createParser } from 'eventsource-parser';
import { expect, onTestFinished } from 'vitest';
import { CoreError, type SessionsApi, type SessionStreamFrame } from '@svc/connector-kit';
import type { RunningConnector, StartContext } from '@svc/connector-kit/connector.ts';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Invitation, ListedDevice, Paired } from '@svc/contract/device-gateway.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { gatewayCalls } from '../src/calls-list.ts';
import { gatewayFields, type GatewayConfig } from '../src/config.ts';
import { startGateway, type GatewayOptions } from '../src/start-gateway.ts';

const meta: ConnectorMeta = {
  type: 'device',
  displayName: 'Devices',
  supportsMultiple: true,
  capabilities: { max_message_chars: 1000, supports_markdown: true, supports_code_blocks: true, supports_attachments_out: false },
  credentialKeys: [],
  configSchema: { type: 'object', properties: gatewayFields(3028) },
  outbound: { kinds: ['inject', 'speak'], target: { required: false, label: 'Device' } },
  calls: gatewayCalls,
};

type Event = { id: string | null; type: string; data: Record<string, unknown> };

/** A gateway with a scripted core. */
export async function openGateway(
  config: Partial<GatewayConfig> = {},
  context: Partial<StartContext> = {},
  options: Partial<GatewayOptions> = {},
) {
  const folder = temporaryFolder();
  const start = async (
    port: number,
    more: Partial<StartContext> = {},
  ): Promise<{ fake: FakeContext; live: RunningConnector }> => {
    const fields = {
      type: meta.type,
      dataDir: folder.path,
      config: { ...defaultsOf(meta), http_port: port, ...config },
      ...context,
      ...more,
    };
    const fake = fakeContext(fields);
    const live = await startGateway(fake.context as unknown as StartContext<GatewayConfig>, {
      meta,
      appFolder: folder.path,
      ...options,
    });
    return { fake, live };
  };
  let { fake, live } = await start(0);
  const port = live.port!;
  const stop = async () => {
    fake.shutdown.abort();
    await live.stop();
  };
  onTestFinished(async () => {
    await stop();
    folder.remove();
  });
  const call = (method: string, params = {}) => live.call!('', method, params, new AbortController().signal);
  const ask = (token: string | null, method: string, where: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${live.url}${where}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !(body instanceof Uint8Array) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
  const json = async (...asked: Parameters<typeof ask>) => {
    const answer = await ask(...asked);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  return {
    folder: folder.path,
    core: () => fake.core,
    fake: () => fake,
    live: () => live,
    call,
    ask,
    json,
    invite: (name: string) => call('invite', { name }) as Promise<Invitation>,
    listed: async () => ((await call('devices')) as { devices: ListedDevice[] }).devices,
    /** A device that has come. */
    async device(name: string): Promise<Paired> {
      const { code } = (await call('invite', { name })) as Invitation;
      const { status, body } = await json(null, 'POST', '/gw/pair', { code });
      expect(status).toBe(200);
      return body as unknown as Paired;
    },
    async read(token: string, where = '/gw/stream', headers: Record<string, string> = {}) {
      const left = new AbortController();
      const answer = await fetch(`${live.url}${where}`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
        signal: left.signal,
      });
      const events: Event[] = [];
      const parser = createParser({
        onEvent: ({ id, event, data }) => events.push({ id: id ?? null, type: event ?? '', data: JSON.parse(data) as never }),
      });
      const text = new TextDecoder();
      const ended = (async () => {
        for await (const part of answer.body!) parser.feed(text.decode(part, { stream: true }));
      })().catch(() => undefined);
      onTestFinished(() => left.abort());
      return { status: answer.status, events, ended, types: () => events.map(({ type }) => type), leave: () => left.abort() };
    },
    async restart(more: Partial<StartContext> = {}) {
      await stop();
      ({ fake, live } = await start(port, more));
    },
  };
}

/** A frame of the conversation that a device watches. */
export const frame = (seq: number, body: object): SessionStreamFrame =>
  ({ conversation_key: 'k', turn_id: 't1', seq, ...body }) as SessionStreamFrame;

/** The core refuses the next words for a conversation, and takes them after that. */
export function refuseOnce(sessions: SessionsApi, isMeant: (key: string) => boolean): void {
  const { inject } = sessions;
  let isRefused = false;
  sessions.inject = async (as, key, said) => {
    if (isRefused || !isMeant(key)) return inject(as, key, said);
    isRefused = true;
    throw new CoreError('unavailable', 'The core is away.', { mayHaveRun: false });
  };
}
