import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSpeech } from '../src/speech.ts';
import type { SpeechApi } from '../src/connector.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => unknown;

let server: Server;
let answer: Answer;
let speech: SpeechApi;
let shutdown: AbortController;
beforeEach(async () => {
  shutdown = new AbortController();
  server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const coreUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  speech = createSpeech({ coreUrl, pass: 'a-pass', signal: shutdown.signal });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
const forever = new AbortController().signal;

test('speaks a text for its sender, with the pass of the connector', async () => {
  let seen: unknown;
  answer = async (req, res) => {
    seen = [req.url, req.headers.authorization, JSON.parse(await text(req))];
    res.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
  };
  const { mime, body } = await speech.speak({ sender: 'ann & bob', text: 'hi', voice: 'alloy' }, forever);
  expect([mime, await text(body)]).toEqual(['audio/mpeg', 'sound']);
  expect(seen).toEqual(['/v2/tts?sender=ann+%26+bob', 'Bearer a-pass', { text: 'hi', voice: 'alloy' }]);
});

test('transcribes a clip for its sender', async () => {
  let seen: unknown;
  answer = async (req, res) => {
    seen = [req.url, req.headers['content-type'], (await buffer(req)).toString()];
    res.end(JSON.stringify({ ok: true, text: 'heard' }));
  };
  const clip = { sender: 'ann', data: Buffer.from('clip'), mime: 'audio/ogg', language: 'en' };
  expect(await speech.transcribe(clip, forever)).toMatchObject({ text: 'heard' });
  expect(seen).toEqual(['/v2/transcribe?sender=ann&language=en', 'audio/ogg', 'clip']);
});

test('rejects with the code, message and reason of the core', async () => {
  answer = (_req, res) =>
    void res
      .writeHead(422)
      .end(JSON.stringify({ ok: false, error: 'unprocessable', message: 'No such voice.', reason: 'bad_voice' }));
  await expect(speech.speak({ sender: 'a', text: 'x' }, forever)).rejects.toMatchObject({
    code: 'unprocessable',
    status: 422,
    message: 'No such voice.',
    details: { reason: 'bad_voice' },
  });
});

test.each<[string, Answer, string]>([
  ['something else', (_req, res) => res.writeHead(500).end('<html>'), 'upstream'],
  ['a break', (req) => req.socket.destroy(), 'unavailable'],
  [
    'half an answer',
    (_req, res) => (res.writeHead(500, { 'content-length': '9' }), res.write('{'), res.destroy()),
    'unavailable',
  ],
])('reports %s as an upstream or availability error', async (_what, broken, code) => {
  answer = broken;
  await expect(speech.transcribe({ sender: 'a', data: Buffer.from('x') }, forever)).rejects.toMatchObject({ code });
});

test('is unavailable when the core is unreachable or the connector stops', async () => {
  const away = createSpeech({ coreUrl: 'http://127.0.0.1:9', pass: 'a-pass', signal: forever });
  await expect(away.speak({ sender: 'a', text: 'x' }, forever)).rejects.toMatchObject({ code: 'unavailable' });
  answer = () => shutdown.abort();
  await expect(speech.speak({ sender: 'a', text: 'x' }, forever)).rejects.toMatchObject({ code: 'unavailable' });
});
