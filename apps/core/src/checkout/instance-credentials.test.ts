import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@svc/service-kit/secret.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManagerReader } from '../instance/manager-reader.ts';
import type { GitSource } from './git-source.ts';
import { createCredentialOf } from './instance-credentials.ts';

const types = [{ type: 'issues', credentialKeys: ['token_secret_key'] }];
const instances = [
  { id: 'mine', type: 'issues', config: { token_secret_key: 'MINE', room: 'OTHER_FIELD' } },
  { id: 'other', type: 'issues', config: { token_secret_key: 'OTHERS' } },
  { id: 'bold', type: 'issues', config: { token_secret_key: 'SVC_CORE_TOKEN' } },
];

/** Answers as the manager does. */
let manager: HttpServer;
let status = 200;
beforeEach(async () => {
  status = 200;
  manager = createServer((request, response) => {
    const body = request.url === '/types' ? { types } : { instances };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => manager.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => manager.close(resolve)));

const github = { scheme: 'https', host: 'github.com', port: 443 } as const;
type Server = Pick<GitSource, 'scheme' | 'host' | 'port'>;

function open(coreToken: Secret | null = null) {
  const of = createCredentialOf({
    manager: createManagerReader({
      bindHost: '127.0.0.1',
      managerPort: (manager.address() as AddressInfo).port,
      managerToken: null,
    }),
    settings: {
      coreToken,
      checkoutSecrets: [
        { name: 'DECLARED', host: 'github.com' },
        { name: 'OF_LAN', host: 'git.lan:3000' },
        { name: 'SVC_CORE_TOKEN', host: 'github.com' },
      ],
    },
    secrets: { resolve: async (name) => new Secret(`value of ${name}`) },
  });
  return (name: string, instanceId: string | null, to: Server = github) => of(name, { instanceId, to });
}

test('an instance gets a secret that a credential field of its config names', async () => {
  expect((await open()('MINE', 'mine')).reveal()).toBe('value of MINE');
});

test.each([
  ['of another instance', 'OTHERS', 'mine'],
  ['named in a field that is no secret', 'OTHER_FIELD', 'mine'],
  ['of nobody', 'FREE', 'mine'],
  ['for an instance that is not there', 'MINE', 'gone'],
  ['that is a setting of the service', 'SVC_CORE_TOKEN', 'bold'],
  ['that is a setting of the service, for the operator', 'SVC_CORE_TOKEN', null],
])('rejects a secret %s', async (_, name, instance) => {
  await expect(open()(name, instance)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a caller with the token of the core gets any secret except settings of the service', async () => {
  const named = open(new Secret('a-token-of-the-core-0123456789'));
  expect((await named('FREE', null)).reveal()).toBe('value of FREE');
  await expect(named('SVC_CORE_TOKEN', null)).rejects.toMatchObject({ code: 'forbidden' });
});

describe('program of this machine while the core has no token', () => {
  const lan = { scheme: 'http', host: 'git.lan', port: 3000 } as const;

  test('gets the secret declared for the server', async () => {
    expect((await open()('DECLARED', null)).reveal()).toBe('value of DECLARED');
    expect((await open()('OF_LAN', null, lan)).reveal()).toBe('value of OF_LAN');
  });

  test.each<[string, string, Server]>([
    ['of an instance', 'MINE', github],
    ['of nobody', 'FREE', github],
    ['in other letters', 'declared', github],
    ['for a host that ends alike', 'DECLARED', { ...github, host: 'evil-github.com' }],
    ['for a host below', 'DECLARED', { ...github, host: 'x.github.com' }],
    ['for a host that goes on', 'DECLARED', { ...github, host: 'github.com.evil.example' }],
    ['for another port', 'DECLARED', { ...github, port: 8443 }],
    ['in the clear', 'DECLARED', { ...github, scheme: 'http', port: 80 }],
    ['in the clear on the port of https', 'DECLARED', { ...github, scheme: 'http' }],
    ['of another server', 'OF_LAN', github],
    ['without its port', 'OF_LAN', { ...lan, scheme: 'https', port: 443 }],
    ['that is a setting of the service, declared or not', 'SVC_CORE_TOKEN', github],
  ])('gets no secret %s', async (_what, name, to) => {
    await expect(open()(name, null, to)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('no secret is given while the manager is unavailable', async () => {
  status = 503;
  await expect(open()('MINE', 'mine')).rejects.toMatchObject({ code: 'unavailable' });
});
