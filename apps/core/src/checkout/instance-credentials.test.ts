import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@svc/service-kit/secret.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCredentialOf } from './instance-credentials.ts';

const types = [{ type: 'issues', credentialKeys: ['token_secret_key'] }];
const instances = [
  { id: 'mine', type: 'issues', config: { token_secret_key: 'MINE', room: 'OTHER_FIELD' } },
  { id: 'other', type: 'issues', config: { token_secret_key: 'OTHERS' } },
  { id: 'bold', type: 'issues', config: { token_secret_key: 'SVC_CORE_TOKEN' } },
];

/** Answers as the manager does. */
let manager: Server;
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

const open = () =>
  createCredentialOf({
    settings: { bindHost: '127.0.0.1', managerPort: (manager.address() as AddressInfo).port, managerToken: null },
    secrets: { resolve: async (name) => new Secret(`value of ${name}`) },
  });

test('an instance gets a secret that its config names as one', async () => {
  expect((await open()('MINE', 'mine')).reveal()).toBe('value of MINE');
});

test.each([
  ['of another instance', 'OTHERS', 'mine'],
  ['named in a field that is no secret', 'OTHER_FIELD', 'mine'],
  ['of nobody', 'FREE', 'mine'],
  ['for an instance that is not there', 'MINE', 'gone'],
  ['that is a setting of the service', 'SVC_CORE_TOKEN', 'bold'],
  ['that is a setting of the service, for the operator', 'SVC_CORE_TOKEN', null],
])('a secret %s is refused', async (_, name, instance) => {
  await expect(open()(name, instance)).rejects.toMatchObject({ code: 'forbidden' });
});

test('the operator may name any other', async () => {
  expect((await open()('FREE', null)).reveal()).toBe('value of FREE');
});

test('nothing is given while the manager cannot say', async () => {
  status = 503;
  await expect(open()('MINE', 'mine')).rejects.toMatchObject({ code: 'unavailable' });
});
