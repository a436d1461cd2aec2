import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createTriage } from '../src/triage.ts';

async function open(answer: (req: IncomingMessage, res: ServerResponse) => unknown) {
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const coreUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createTriage({ coreUrl, pass: 'a-pass', signal: new AbortController().signal });
}
const question = {
  sender: 'ann & bob',
  instruction: 'What is it?',
  text: 'broken',
  answer: { kind: { type: 'string' as const } },
};
const forever = new AbortController().signal;

test('asks a question for its sender, with the pass of the connector', async () => {
  let seen: unknown;
  const triage = await open(async (req, res) => {
    seen = [req.url, req.headers.authorization, JSON.parse(await text(req))];
    res.end('{"ok":true,"answer":{"kind":"bug"}}');
  });
  expect(await triage(question, forever)).toEqual({ kind: 'bug' });
  const { sender: _sender, ...body } = question;
  expect(seen).toEqual(['/v2/triage?sender=ann+%26+bob', 'Bearer a-pass', body]);
});

test('rejects with the code of the core', async () => {
  const triage = await open((_req, res) => res.writeHead(403).end('{"ok":false,"error":"no_access","message":"no access"}'));
  await expect(triage(question, forever)).rejects.toMatchObject({ code: 'no_access', status: 403 });
});
