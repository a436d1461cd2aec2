import { expect, test, vi } from 'vitest';
import type { Tier } from '@svc/contract/trust.ts';
import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { ToolTurn } from './built-in-tools.ts';
import { openToolServers } from './tool-servers.ts';

const entry = (...names: string[]): ToolServerEntry => ({
  type: 'stdio',
  command: 'kit',
  args: [],
  env: Object.fromEntries(names.map((name) => [name, `\${secret:${name}}`])),
  safe: false,
  enabled: true,
});

async function open(resolve: (name: string, tier?: Tier) => Promise<Secret>) {
  const resolved = vi.fn(resolve);
  const servers = await openToolServers({
    db: { all: () => Promise.resolve([]), run: () => Promise.resolve({ changes: 1 } as never) },
    clock: createFakeClock(),
    log: { info: () => undefined, warn: () => undefined } as never,
    knownSecrets: { learn: () => undefined },
    secrets: { resolve: resolved },
    builtIns: [],
  });
  return { servers, resolved };
}

/** A turn of a person with full tools and this tier. */
const turnOf = (tier: Tier) =>
  ({ identity: { tool_policy: 'full', trust_tier: tier, tool_servers: '*' }, ended: new AbortController().signal }) as ToolTurn;

const missing = (name: string) => new ServiceError('unprocessable', `"${name}" is not set.`);
const refused = (name: string) => new ServiceError('forbidden', `The secret "${name}" takes SACRED.`);

test('the secrets of all servers are resolved concurrently, and the servers keep their order', async () => {
  const asked = new Map<string, PromiseWithResolvers<Secret>>();
  const { servers } = await open((name) => {
    asked.set(name, Promise.withResolvers<Secret>());
    return asked.get(name)!.promise;
  });
  for (const name of ['A', 'B', 'C']) await servers.save(name.toLowerCase(), entry(name));
  const tools = servers.serversFor(turnOf('SACRED'));
  await vi.waitUntil(() => asked.size === 3);
  for (const name of ['C', 'B', 'A']) asked.get(name)?.resolve(new Secret(name));
  expect((await tools).servers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('secrets are resolved with the trust of the sender, and a denied one is no fault of the server', async () => {
  const { servers, resolved } = await open((name, tier) =>
    tier === 'SACRED' ? Promise.resolve(new Secret('x')) : Promise.reject(refused(name)),
  );
  await servers.save('kit', entry('A'));
  const tools = await servers.serversFor(turnOf('TRUSTED'));
  expect(tools.missing).toEqual([{ name: 'kit', reason: 'The secret "A" takes SACRED' }]);
  expect(resolved.mock.calls).toEqual([['A', 'TRUSTED']]);
  tools.onMissing('kit', 'gone');
  expect(servers.notices()).toEqual([]);
});

test('a missing secret is reported as a fault of the server, even beside a denied one', async () => {
  const { servers } = await open((name) => Promise.reject(name === 'B' ? missing(name) : refused(name)));
  await servers.save('kit', entry('A', 'B', 'C'));
  const tools = await servers.serversFor(turnOf('TRUSTED'));
  expect(tools.missing).toEqual([{ name: 'kit', reason: '"B" is not set' }]);
  tools.onMissing('kit', 'Tool server kit is not there.');
  expect(servers.notices()).toEqual([expect.stringContaining('kit')]);
});
