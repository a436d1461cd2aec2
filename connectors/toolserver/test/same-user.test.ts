import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { codeFor, redeem } from './authorize.ts';
import { callback } from './oauth-client.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

const programs = ['one', 'two'].map((id) => ({
  client_id: id,
  client_secret: `the-secret-of-program-${id}`,
  client_name: id,
  redirect_uris: [callback],
  identity: { userId: 'ann' },
}));

test("a program cannot cancel the question of the same user's other program, although their requests have the same ids", async () => {
  const before = (dir: string) =>
    writeFileSync(path.join(dir, 'clients.json'), JSON.stringify({ clients: programs }), { mode: 0o600 });
  const server = await openToolserver({ before });
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  server.core.script = async ({ result }) => {
    begun.resolve();
    await over.promise;
    return result({ actions: [{ type: 'reply', text: 'It is blue.' }] });
  };
  const [one, two] = [await signedIn(server, programs[0]!), await signedIn(server, programs[1]!)];
  const asked = one({ id: 3, method: 'tools/call', params: { name: 'ask_assistant', arguments: { question: 'which?' } } });
  await begun.promise;
  expect((await two({ method: 'notifications/cancelled', params: { requestId: 3 } })).status).toBe(202);
  expect(server.core.amendments).toEqual([]);
  over.resolve();
  expect(await (await asked).text()).toContain('It is blue.');
});

async function signedIn(server: OpenToolserver, { client_id: id, client_secret: secret }: (typeof programs)[number]) {
  const client = { id, secret };
  const { body } = await redeem(server, client, await codeFor(server, client));
  const headers = {
    authorization: `Bearer ${body.access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return (message: object) =>
    fetch(new URL('/mcp', server.url), { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
}
