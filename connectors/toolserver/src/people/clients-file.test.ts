import { expect, test } from 'vitest';
import { parseClients } from './clients-file.ts';
import { userOf } from './client-user.ts';

const ann = {
  client_id: 'own',
  client_secret: 'x'.repeat(16),
  client_name: 'Own',
  redirect_uris: ['https://own.example/cb'],
  identity: { userId: 'ann', username: 'Ann' },
};
const fault = (entry: unknown) => {
  try {
    parseClients(JSON.stringify({ clients: [entry] }));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

test('reads valid entries, without unknown fields', () => {
  expect(parseClients(JSON.stringify({ clients: [{ ...ann, more: 1 }] }))).toEqual([ann]);
  expect(parseClients('{"clients":[]}')).toEqual([]);
  const unnamed = { ...ann, identity: { userId: 'ann' } };
  expect(parseClients(JSON.stringify({ clients: [unnamed] }))[0]?.identity).toEqual({ userId: 'ann', username: 'ann' });
});

test.each<[object]>([
  [{ client_id: 'a' }],
  [{ client_id: 'a'.repeat(256) }],
  [{ client_secret: 'x'.repeat(512) }],
  [{ client_name: 'n'.repeat(200) }],
  [{ redirect_uris: Array.from({ length: 20 }, () => 'a') }],
  [{ identity: { userId: 'A.b_c-d@e', username: 'n'.repeat(200) } }],
  [{ identity: { userId: 'u'.repeat(128) } }],
])('accepts values at the limits: %j', (changed) => {
  expect(fault({ ...ann, ...changed })).toBeNull();
});

test.each<[object, string]>([
  [{ client_id: '' }, 'client_id'],
  [{ client_id: 'a b' }, 'client_id'],
  [{ client_id: 'a\n' }, 'client_id'],
  [{ client_id: 'ä' }, 'client_id'],
  [{ client_id: 'a'.repeat(257) }, 'client_id'],
  [{ client_id: 7 }, 'client_id'],
  [{ client_secret: 'x'.repeat(15) }, 'client_secret'],
  [{ client_secret: 'x'.repeat(513) }, 'client_secret'],
  [{ client_secret: `${'x'.repeat(16)}\n` }, 'client_secret'],
  [{ client_secret: undefined }, 'client_secret'],
  [{ client_secret: 1_234_567_890_123_456 }, 'client_secret'],
  [{ client_name: '' }, 'client_name'],
  [{ client_name: 'n'.repeat(201) }, 'client_name'],
  [{ client_name: null }, 'client_name'],
  [{ redirect_uris: [] }, 'redirect_uris'],
  [{ redirect_uris: 'https://own.example/cb' }, 'redirect_uris'],
  [{ redirect_uris: Array.from({ length: 21 }, () => 'a') }, 'redirect_uris'],
  [{ redirect_uris: ['a', 7] }, 'redirect_uris'],
  [{ identity: undefined }, 'identity.userId'],
  [{ identity: { userId: '' } }, 'identity.userId'],
  [{ identity: { userId: 'ann:other' } }, 'identity.userId'],
  [{ identity: { userId: 'ann\n' } }, 'identity.userId'],
  [{ identity: { userId: 'u'.repeat(129) } }, 'identity.userId'],
  [{ identity: { userId: 'ann', username: 7 } }, 'identity.username'],
  [{ identity: { userId: 'ann', username: 'n'.repeat(201) } }, 'identity.username'],
])('rejects an entry with %j', (changed, named) => {
  expect(fault({ ...ann, ...changed })).toContain(`clients[0]: ${named}`);
});

test.each([
  ['{ "clients": [ { "client_secret": "do-not-print-me', 'it is not valid JSON'],
  ['[]', 'it must contain'],
  ['{"clients":{}}', 'it must contain'],
  ['{"clients":[7]}', 'clients[0]: is not an object'],
  [JSON.stringify({ clients: [ann, ann] }), 'the client_id "own" is listed twice'],
  [JSON.stringify({ clients: Array.from({ length: 1_001 }, (_, n) => ({ ...ann, client_id: `c${n}` })) }), 'more than 1000'],
])('rejects an invalid file without quoting it: %#', (text, words) => {
  expect(() => parseClients(text)).toThrow(words);
  expect(() => parseClients(text)).not.toThrow('do-not-print-me');
});

test('accepts a thousand clients', () => {
  const clients = Array.from({ length: 1_000 }, (_, n) => ({ ...ann, client_id: `c${n}` }));
  expect(parseClients(JSON.stringify({ clients }))).toHaveLength(1_000);
});

test('a client that registered itself is a separate user, identified by its id', () => {
  const [one, other] = ['one', 'other'].map((id) => userOf({ client_id: id, client_name: 'Ann' }));
  expect(one?.userId).toMatch(/^client-[0-9a-f]{32}$/);
  expect([one?.userId === other?.userId, one?.username]).toEqual([false, 'Ann']);
  expect(userOf(ann)).toEqual(ann.identity);
});
