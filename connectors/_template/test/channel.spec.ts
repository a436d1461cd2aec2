import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { RunningConnector, StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

const token = 'the-token-of-this-test';
type Running = FakeContext & {
  live: RunningConnector;
  say(text: string): Promise<unknown>;
  shows(texts: string[]): Promise<void>;
};

/** The real connector on the practice platform, with a core that does what the test says. */
async function running(t: TestContext, config: Partial<Config> = {}): Promise<Running> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'connector-'));
  const whole = { ...defaultsOf(meta), token_secret_key: 'TOKEN', ...config };
  const fake = fakeContext({ type: meta.type, dataDir, config: whole }, { TOKEN: token });
  const starting = start(fake.context as StartContext<Config>);
  t.after(async () => {
    fake.shutdown.abort();
    // It may have failed to start.
    await (await starting.catch(() => null))?.stop();
    rmSync(dataDir, { recursive: true });
  });
  const live = await starting;
  return {
    ...fake,
    live,
    say: (text) => ask(live, '/say', JSON.stringify({ user: 'ann', text })),
    /** Waits until this is what the bot shows. */
    async shows(texts) {
      const until = performance.now() + 20_000;
      for (let shown: string[] = []; ;) {
        shown = ((await ask(live, '/chat?user=ann')) as Message[]).filter(({ from }) => from === 'bot').map(({ text }) => text);
        if (performance.now() > until || JSON.stringify(shown) === JSON.stringify(texts)) return assert.deepEqual(shown, texts);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

type Message = { from: string; text: string };

async function ask(live: RunningConnector, route: string, body?: string | Uint8Array<ArrayBuffer>, mime = 'application/json') {
  const headers = { authorization: `Bearer ${token}`, 'content-type': mime };
  const answer = await fetch(`${live.url}${route}`, { method: body === undefined ? 'GET' : 'POST', headers, body: body ?? null });
  return (await answer.json()) as unknown;
}

test('a message gets the reply of the assistant, and the core is told that it is shown', async (t) => {
  const { say, core } = await running(t);
  assert.deepEqual(await say('hello'), { shown: ['echo: hello'] });
  assert.deepEqual(core.acks, [{ turnId: 'turn_1' }]);
});

test('a reply is one message that grows', async (t) => {
  const { say, shows, core } = await running(t);
  const begun = 'here is how it begins, and it is long enough to be shown';
  core.script = async ({ handlers, result }) => {
    handlers.onDelta?.(begun);
    await shows([begun]);
    return result({ actions: [{ type: 'reply', text: `${begun}: this is all` }] });
  };
  await say('hello');
  await shows([`${begun}: this is all`]);
});

test('a reply that is too long for one message is several', async (t) => {
  const { say, shows, core } = await running(t);
  const [first, second] = ['a'.repeat(3000), 'b'.repeat(3000)];
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: `${first}\n\n${second}` }] });
  await say('hello');
  await shows([first, second]);
});

test('a file goes with its message', async (t) => {
  const { live, core, saved } = await running(t);
  await ask(live, '/file?user=ann&name=cat.png&text=who%20is%20this', new Uint8Array(5), 'image/png');
  assert.deepEqual([saved[0]?.name, saved[0]?.mime, saved[0]?.content.length], ['cat.png', 'image/png', 5]);
  const { text, attachments } = core.turns[0]?.envelope.content ?? {};
  assert.deepEqual([text, attachments?.[0]?.path], ['who is this', saved[0]?.path]);
});

test('what nobody has just asked for is posted to the chat, once', async (t) => {
  const { live, shows } = await running(t);
  const message = { id: 'o1', target: 'ann', kind: 'text', text: 'the train is late' };
  await live.send?.(message, AbortSignal.timeout(5000));
  await live.send?.(message, AbortSignal.timeout(5000));
  await shows(['the train is late']);
});

test('the practice platform is open to those with the token alone', async (t) => {
  const { live, core } = await running(t);
  for (const route of ['/say', '/file?user=ann', '/messages'])
    assert.equal((await fetch(`${live.url}${route}`, { method: 'POST', body: '{"user":"ann","text":"hi"}' })).status, 401);
  for (const route of ['/updates', '/chat?user=ann']) assert.equal((await fetch(`${live.url}${route}`)).status, 401);
  assert.equal(core.turns.length, 0);
});

for (const [status, why] of [
  [401, /rejected this token/],
  [500, /The platform answered 500/],
] as const) {
  test(`a platform that answers ${status} at the start is no channel, and the operator reads why`, async (t) => {
    const server = createServer((_, res) => res.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => void server.close());
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(running(t, { base_url }), why);
  });
}
