import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRemoteUsers, noRemoteUsers } from './remote-users.ts';

const users = createRemoteUsers('s'.repeat(43));
const asks = (headers: Record<string, string | string[]>) => users.take(headers as never);

test('accepts a name with its proof', () => {
  expect(asks(users.headersFor('anna'))).toBe('anna');
  expect(asks(users.headersFor("Anna B. (O'Neil) <a@b.example>"))).toBe("Anna B. (O'Neil) <a@b.example>");
});

const proof = users.headersFor('anna')['x-svc-proof'];
test.each([
  ['alone', { 'remote-user': 'anna' }],
  ['with the proof of another name', { ...users.headersFor('bob'), 'remote-user': 'anna' }],
  ['with the proof of an earlier start', createRemoteUsers('t'.repeat(43)).headersFor('anna')],
  ['with an empty proof', { 'remote-user': 'anna', 'x-svc-proof': '' }],
  ['with the secret itself', { 'remote-user': 'anna', 'x-svc-proof': 's'.repeat(43) }],
  ['with a proof that is longer', { 'remote-user': 'anna', 'x-svc-proof': `${proof}A` }],
  ['in other letters', { 'remote-user': 'Anna', 'x-svc-proof': proof }],
  ['twice, as Node joins it', { 'remote-user': 'anna, anna', 'x-svc-proof': proof }],
  ['as a list', { 'remote-user': ['anna'], 'x-svc-proof': proof }],
  ['with proofs to choose from', { 'remote-user': 'anna', 'x-svc-proof': `${proof}, ${proof}` }],
  ['that is empty', { 'remote-user': '', 'x-svc-proof': proof }],
  ['left out', { 'x-svc-proof': proof }],
])('ignores a name %s', (_what, headers: Record<string, string | string[]>) => {
  expect(asks(headers)).toBe('local');
});

test('always removes both headers', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(proof), fc.constant('anna'));
  fc.assert(
    fc.property(text, text, (user, seal) => {
      const headers = { 'remote-user': user, 'x-svc-proof': seal, host: 'h' };
      const actor = users.take(headers);
      expect(actor).toBe(user === 'anna' && seal === proof ? 'anna' : 'local');
      expect(headers).toEqual({ host: 'h' });
    }),
  );
});

test('without a secret, no name is accepted or issued', () => {
  expect(noRemoteUsers.take(users.headersFor('anna'))).toBe('local');
  expect(() => noRemoteUsers.headersFor('anna')).toThrow();
});

test.each(['', 'a\nb', 'a\u00e9', ' anna', 'x'.repeat(129)])('rejects the name %j', (user) => {
  expect(() => users.headersFor(user)).toThrow();
});

test('rejects a secret that is too short', () => {
  expect(() => createRemoteUsers('')).toThrow(/too short/);
  expect(() => createRemoteUsers('short')).toThrow(/too short/);
});
