import { Secret } from '@svc/service-kit/secret.ts';
import { expect, test } from 'vitest';
import { actorOf } from './actor-of.ts';

const token = new Secret('a-token-of-control');
const right = 'Bearer a-token-of-control';

test.each([
  ['anna', right, token, 'anna'],
  ['anna', undefined, token, 'local'],
  ['anna', 'Bearer wrong', token, 'local'],
  ['anna', right, null, 'local'],
  [undefined, right, token, 'local'],
])('%s with %s acts as %s', (user, authorization, secret, actor) => {
  expect(actorOf({ headers: { 'remote-user': user, authorization } } as never, secret)).toBe(actor);
});
