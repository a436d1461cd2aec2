import type { Provider } from 'oidc-provider';
import { expect, test } from 'vitest';
import type { Exchange } from '@svc/connector-kit';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Approval } from '../consent/approvals.ts';
import type { RegisteredClient } from '../people/clients-file.ts';
import { challengeOf, createTokenCheck } from './check-token.ts';

const resource = 'https://assistant.example/mcp';
const identity = { userId: 'ann', username: 'Ann' };
const approval: Approval = {
  client_id: 'own',
  client_name: 'Own',
  user_id: 'ann',
  redirect_to: 'https://own.example',
  approved_at: 1,
};
const good = {
  clientId: 'own' as string | undefined,
  aud: resource as string | string[],
  scopes: ['ask'],
  exp: 1_000 as number | undefined,
};

type World = { token?: Partial<typeof good> | null; approved?: Approval | null; known?: object | null; problem?: string };

/** The result of the check for the token `t`, with everything valid except what is given. */
function check(
  { token = {}, approved = approval, known = { identity }, problem }: World,
  headers: object = { authorization: 'Bearer t' },
) {
  const { scopes, ...rest } = { ...good, ...token };
  const find = async (value: string) => (value === 't' && token !== null ? { ...rest, scopes: new Set(scopes) } : undefined);
  const client = known === null ? null : ({ client_id: 'own', client_name: 'Own', ...known } as RegisteredClient);
  const checkToken = createTokenCheck({
    openProvider: async () => ({ AccessToken: { find } }) as unknown as Provider,
    approvals: { find: async (id: string) => (id === 'own' ? (approved ?? undefined) : undefined) } as never,
    clients: { find: () => client, list: () => [], problem: () => problem ?? null },
    resource: () => resource,
  });
  return checkToken({ req: { headers, url: '/mcp' } } as unknown as Exchange);
}

test("accepts a token of an approved client for this server and scope as the client's user", async () => {
  const auth = { token: 't', clientId: 'own', scopes: ['ask'], expiresAt: 1_000, extra: identity };
  expect(await check({})).toEqual({ ...identity, clientId: 'own', expiresAt: 1_000_000, auth });
  expect(await check({ token: { aud: ['https://other.example/mcp', resource] } })).toMatchObject(identity);
  expect(await check({ token: { exp: undefined } })).toMatchObject({ expiresAt: 0 });
});

test.each<[string, World]>([
  ['nobody gave', { token: null }],
  ['is for another server', { token: { aud: 'https://other.example/mcp' } }],
  ['is for a longer address', { token: { aud: `${resource}/more` } }],
  ['is for nothing', { token: { aud: [] } }],
  ['has another scope', { token: { scopes: ['openid'] } }],
  ['has no client', { token: { clientId: undefined } }],
  ['is of a client that was not approved', { approved: null }],
  ['is of another client than the approved one', { token: { clientId: 'another' } }],
  ['is of a client whose user is another one by now', { known: { identity: { ...identity, userId: 'eve' } } }],
  ['is of a client that is no longer in the file', { known: null }],
])('rejects a token that %s', async (_what, world) => {
  await expect(check(world)).rejects.toMatchObject({ code: 'unauthorized', details: { reason: 'invalid_token' } });
});

test.each([{}, { authorization: 'Basic t' }, { authorization: 't' }, { authorization: 'Bearer ' }])(
  'rejects a request without a token, but not as an invalid token: %j',
  async (headers) => {
    await expect(check({}, headers)).rejects.toMatchObject({ code: 'unauthorized', details: { at: '/mcp' } });
    await expect(check({}, headers)).rejects.not.toMatchObject({ details: { reason: 'invalid_token' } });
  },
);

test('the challenge reports an invalid token', () => {
  const error = new ServiceError('unauthorized', 'x', { details: { at: '/mcp', reason: 'invalid_token' } });
  expect(challengeOf('https://a.example', error)).toMatch(/^Bearer error="invalid_token", scope="ask", resource_metadata=/);
});

test('rejects all requests while the clients file is invalid', async () => {
  await expect(check({ problem: 'The clients file lets nobody in.' })).rejects.toMatchObject({ code: 'unavailable' });
});

test.each([
  ['/mcp', 'mcp'],
  ['/sse', 'sse'],
  ['/message?sessionId=x', 'sse'],
  ['/mcp?a=/sse', 'mcp'],
  ['/ssee', 'mcp'],
])('the challenge for %s refers to the metadata of its resource', async (url, place) => {
  const checkToken = createTokenCheck({ clients: { problem: () => null } } as never);
  const error = await checkToken({ req: { headers: {}, url } } as never).catch((thrown: unknown) => thrown);
  expect(challengeOf('https://a.example', error as never)).toBe(
    `Bearer scope="ask", resource_metadata="https://a.example/.well-known/oauth-protected-resource/${place}"`,
  );
});
