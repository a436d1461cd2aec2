import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const secret = 'Cnry7Var2kQzLwXp';
const mask = '[redacted:secret]';

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

/** The frames of a turn as a reader of the stream gets them. */
async function stream(text: string): Promise<TurnFrame[]> {
  const { payload } = await core.app.inject({
    method: 'POST',
    url: '/v2/handle',
    headers: { accept: 'text/event-stream' },
    payload: envelope(text),
  });
  return [...payload.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as TurnFrame);
}

const shown = (frames: TurnFrame[]): string =>
  frames.reduce((text, frame) => (frame.type === 'retract' ? '' : frame.type === 'delta' ? text + frame.text : text), '');
const replyOf = (frames: TurnFrame[]) =>
  frames.flatMap((frame) => (frame.type === 'result' ? frame.result.actions.map(({ text }) => text) : [])).join('');

test('a secret that becomes known while the reply streams leaves no more, and the deltas add up to the result', async () => {
  core.engine.script(async function* () {
    yield { type: 'delta', text: `it is ${secret}, ` };
    await new Promise(setImmediate);
    core.context.knownSecrets.learn([secret]);
    yield { type: 'delta', text: `I said ${secret}.` };
    yield { type: 'tool', id: secret, name: 'x', input: { n: 1 } };
    yield { type: 'done' };
  });
  const frames = await stream('go');
  expect(frames[0]).toEqual({ type: 'delta', text: `it is ${secret}, ` });
  expect(JSON.stringify(frames.slice(1))).not.toContain(secret);
  expect(shown(frames)).toBe(`it is ${mask}, I said ${mask}.`);
  expect(replyOf(frames)).toBe(shown(frames));
});

test('a secret that becomes known after the last delta is withdrawn before the result', async () => {
  core.engine.script(async function* () {
    yield { type: 'delta', text: `it is ${secret}.` };
    yield { type: 'segment', text: `it is ${secret}.` };
    await new Promise(setImmediate);
    core.context.knownSecrets.learn([secret]);
    yield { type: 'done' };
  });
  const frames = await stream('go');
  expect(frames).toContainEqual({ type: 'retract' });
  expect([shown(frames), replyOf(frames)]).toEqual([`it is ${mask}.`, `it is ${mask}.`]);
});

test('history, sessions and a repeated answer are masked with what is known when they are read', async () => {
  const sent = envelope(`my key is ${secret}`, { message_id: 'm1', sender: { raw_id: 'owner', raw_username: secret } });
  await core.handle(sent);
  const key = encodeURIComponent(sent.conversation_key);
  const read = async () =>
    (await Promise.all([`/v2/session/${key}/history`, `/v2/session/${key}`, '/v2/sessions'].map((url) => core.app.inject(url))))
      .map(({ payload }) => payload)
      .join('\n');
  expect(await read()).toContain(secret);
  core.context.knownSecrets.learn([secret]);
  expect(await read()).not.toContain(secret);
  expect((await core.handle(sent)).payload).not.toContain(secret);
});

test('what the service has made for itself is masked, though an engine may read it', async () => {
  const { paths } = core.context;
  const keys = [paths.loginKey, paths.connectorKey].map((file) => readFileSync(file, 'utf8').trim());
  const { payload } = await core.handle(envelope(`it is ${keys.join(' and ')}.`));
  expect(payload).toContain(`it is ${mask} and ${mask}.`);
  for (const key of keys) expect(core.context.knownSecrets.line(key)).toBe(mask);
});

test('the name of a file holds no secret: not on the disk, in the list, or in a header', async () => {
  core.context.knownSecrets.learn([secret]);
  const filename = encodeURIComponent(`${secret.slice(0, 5)}\u200b${secret.slice(5)} ${secret}.txt`);
  const { payload } = await core.app.inject({
    method: 'POST',
    url: `/v2/upload?filename=${filename}`,
    headers: { 'content-type': 'text/plain' },
    payload: 'hello',
  });
  const { file } = JSON.parse(payload) as { file: { path: string; name: string } };
  expect(file.path).toMatch(/redacted/);
  const list = (await core.app.inject('/v2/uploads')).payload;
  expect([file.path, file.name, list].join(' ')).not.toContain(secret);
});

test('what another process shows is given back without what only this one knows, and no value is shown', async () => {
  core.context.knownSecrets.learn([secret]);
  const ask = async (payload: string) =>
    (
      await core.app.inject({
        method: 'POST',
        url: '/v2/secrets/mask',
        headers: { 'content-type': 'application/json' },
        payload,
      })
    ).json<unknown>();
  expect(await ask('{"a":1}')).toEqual({ masked: false });
  expect(await ask(`{"__proto__":["${secret}"]}`)).toMatchObject({ masked: true });
  expect(JSON.stringify(await ask(`[{"${secret}":"${secret}"}]`))).toBe(`{"masked":true,"value":[{"${mask}":"${mask}"}]}`);
});
