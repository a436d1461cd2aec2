import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { LinkReply } from '@svc/contract/link.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { ChannelMessage } from '../src/delivery/channel-sender.ts';
import { openLinkServer, type LinkServer } from '../src/turn/link-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let link: LinkServer;
let socket: Socket;
beforeEach(async () => {
  core = await openTestCore();
  const file = path.join(core.folder, 'run/core.sock');
  link = await openLinkServer(core.context, file);
  socket = linkTo(core, file);
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  await link.close();
  await core.close();
});

/** A link of an instance, which begins with the pass that the manager would issue. */
function linkTo(to: TestCore, file: string, peer = { type: 'compat', instanceId: 'c1' }): Socket {
  const opened = connect(file);
  opened.write(`${JSON.stringify({ op: 'hello', id: 0, pass: to.context.connectorPasses.issue(peer).reveal() })}\n`);
  return opened;
}

/** Sends lines and resolves with the first `count` replies. */
async function exchange(lines: string[], count: number, over = socket): Promise<LinkReply[]> {
  over.write(lines.map((line) => `${line}\n`).join(''));
  const replies: LinkReply[] = [];
  for await (const line of createInterface({ input: over })) {
    replies.push(JSON.parse(line) as LinkReply);
    if (replies.length === count) break;
  }
  return replies;
}

const handle = (id: number, stream: boolean, text = 'hello') =>
  JSON.stringify({ op: 'handle', id, stream, envelope: envelope(text) });

test('a turn over the link is answered, with its frames when requested', async () => {
  expect(await exchange([handle(1, true)], 3)).toMatchObject([
    { id: 1, frame: { type: 'delta', text: 'hello' } },
    { id: 1, frame: { type: 'segment' } },
    { id: 1, result: { outcome: 'replied' } },
  ]);
});

test.each(['\xff', '\xc0\xaf', '\xed\xa0\x80', 'caf\xe9', '\xf5\x80\x80\x80'])(
  'invalid UTF-8 (%j) is rejected before a turn, since different bytes would decode to the same text',
  async (bytes) => {
    const line = (id: number, sign: string) => Buffer.from(handle(id, false, 'SIGN').replaceAll('SIGN', sign), 'latin1');
    for (const padding of ['', 'x'.repeat(100_000)]) {
      socket.write(Buffer.concat([line(1, padding + bytes), Buffer.from('\n')]));
      expect(await exchange([], 1)).toMatchObject([
        { id: 1, error: { error: 'bad_request', message: expect.stringContaining('it is not valid UTF-8') as string } },
      ]);
    }
    expect(core.engine.requests).toEqual([]);
  },
);

test('resolve, abort and forget requests share one limit per link', async () => {
  const { trust } = core.context;
  const { resolve } = trust;
  const gate = Promise.withResolvers<void>();
  trust.resolve = async (sender) => (await gate.promise, resolve(sender));
  const as = { channel: 'compat', sender: { raw_id: 'owner' } };
  const ops = ['resolve', 'abort', 'forget'];
  const lines = Array.from({ length: 257 }, (_, id) => {
    const op = ops[id % 3];
    return JSON.stringify(
      op === 'resolve' ? { op, id, envelope: envelope('x') } : { op, id, as, conversation_key: 'compat:c1:key' },
    );
  });
  try {
    expect(await exchange(lines, 1)).toMatchObject([{ id: 256, error: { error: 'queue_full' } }]);
  } finally {
    gate.resolve();
    trust.resolve = resolve;
  }
});

test('the frames of a long reply arrive in order, before its result', async () => {
  const text = 'a "word" '.repeat(10_000).trim();
  const replies = await readUntilAnswer(handle(1, true, text));
  const types = replies.map((reply) => ('frame' in reply ? reply.frame.type : 'result'));
  expect(types.filter((type) => type !== 'delta')).toEqual(['segment', 'result']);
  const deltas = replies.map((reply) => ('frame' in reply && reply.frame.type === 'delta' ? reply.frame.text : ''));
  expect(deltas.join('')).toBe(text);
  expect(replies.at(-1)).toMatchObject({ result: { actions: [{ type: 'reply', text }] } });
});

async function readUntilAnswer(line: string): Promise<LinkReply[]> {
  socket.write(`${line}\n`);
  const replies: LinkReply[] = [];
  for await (const reply of createInterface({ input: socket })) {
    replies.push(JSON.parse(reply) as LinkReply);
    if ('result' in replies.at(-1)!) break;
  }
  return replies;
}

test('an invalid message is answered with a description of the fault', async () => {
  const wrong = { ...envelope('hi'), conversation_key: 'a\n' };
  expect(await exchange([JSON.stringify({ op: 'handle', id: 1, envelope: wrong })], 1)).toMatchObject([
    { id: 1, error: { message: 'The request is not valid: envelope.conversation_key has control characters.' } },
  ]);
});

test('secrets are masked in everything sent over the link', async () => {
  const secret = 'Cnry7Var2kQzLwXp';
  core.context.knownSecrets.learn([secret]);
  await core.app.inject({ method: 'PATCH', url: '/trust/principals/owner', payload: { display_name: `Anna ${secret}` } });
  const sender = { ...envelope(''), content: undefined };
  const wrong = { ...envelope('hi'), conversation_key: `${secret}\n` };
  const said = JSON.stringify([
    await exchange([JSON.stringify({ op: 'resolve', id: 1, envelope: sender })], 1),
    await exchange([JSON.stringify({ op: 'handle', id: 2, envelope: { ...wrong, [secret]: 1 } })], 1),
    await exchange([JSON.stringify({ op: 'handle', id: 3, envelope: envelope(`say ${secret}`) })], 1),
  ]);
  expect(said).toContain('Anna [redacted:secret]');
  expect(said).not.toContain(secret);
});

test.each([
  ['a line that is not JSON', '{'],
  ['null', 'null'],
  ['a list', '[1]'],
  ['a text', '"x"'],
  ['no id', '{"op":"handle"}'],
])('%s is ignored, and the link stays open', async (_name, line) => {
  expect(await exchange([line, handle(2, false)], 1)).toMatchObject([{ id: 2, result: { outcome: 'replied' } }]);
});

test('a link that sends a thousand invalid lines is closed with the reason', async () => {
  const [reply] = await exchange(
    Array.from({ length: 1000 }, () => 'x'),
    1,
  );
  expect(reply).toMatchObject({ id: 0, error: { error: 'bad_request', message: '1000 lines of this link were not requests.' } });
  await expect.poll(() => socket.destroyed || socket.readableEnded).toBe(true);
});

test.each([
  ['a key', envelope('x', { conversation_key: '\ud800' }), 'conversation_key'],
  ['a message id', envelope('x', { message_id: 'm\udfff' }), 'message_id'],
  ['a sender', envelope('x', { sender: { raw_id: 'owner\ud801' } }), 'sender.raw_id'],
  ['a text', envelope('\ud800'), 'content.text'],
  ['a name in the context', envelope('x', { channel_context: { '\ud800': 1 } }), 'channel_context.\ufffd'],
])('half of a surrogate pair in %s is rejected, naming the field', async (_what, broken, field) => {
  const [reply] = await exchange([JSON.stringify({ op: 'handle', id: 7, envelope: broken })], 1);
  const message = expect.stringContaining(`request.envelope.${field} has broken characters`) as string;
  expect(reply).toMatchObject({ id: 7, error: { error: 'bad_request', message } });
});

test.each([
  ['no envelope', { op: 'handle', id: 7 }],
  ['an envelope that is not valid', { op: 'handle', id: 7, envelope: { channel: 'X', sender: { raw_id: 'a' } } }],
  ['a sender without an id', { op: 'resolve', id: 7, envelope: { channel: 'compat', sender: {} } }],
  ['an unknown operation', { op: 'delete', id: 7, envelope: envelope('x') }],
  ['a checkout that names none', { op: 'checkout', id: 7, envelope: envelope('x') }],
  ['a delivery of nothing', { op: 'delivered', id: 7, envelope: envelope('x') }],
  ['one of two kinds at once', { op: 'resolve', id: 7, envelope: envelope('x'), turn_id: 't' }],
  ['the end of no watch', { op: 'unwatch', id: 7, turn_id: 't' }],
  ['an answer to no question', { op: 'answer', id: 7, as: {}, conversation_key: 'compat:c1:key', option: 'yes' }],
])('%s is a bad request', async (_name, request) => {
  expect(await exchange([JSON.stringify(request)], 1)).toMatchObject([{ id: 7, error: { error: 'bad_request' } }]);
});

test('a sender is resolved without a turn', async () => {
  const request = { op: 'resolve', id: 3, envelope: envelope('x') };
  expect(await exchange([JSON.stringify(request)], 1)).toMatchObject([
    { id: 3, identity: { denied: false, trust_tier: 'SACRED' } },
  ]);
  expect(core.engine.requests).toHaveLength(0);
});

describe('amendment over the link', () => {
  const as = { channel: 'compat', sender: { raw_id: 'owner' } };
  const amend = (over: object = {}) =>
    JSON.stringify({
      op: 'amend',
      id: 4,
      conversation_key: 'compat:c1:key',
      message_id: 'm1',
      version: 1,
      text: 'new',
      as,
      ...over,
    });

  test('is answered with its outcome', async () => {
    await core.handle(envelope('old', { message_id: 'm1' }));
    expect(await exchange([amend()], 1)).toEqual([{ id: 4, amended: { outcome: 'noted' } }]);
  });

  test.each([
    ['on another instance’s key', { conversation_key: 'compat:c2:key' }, 'forbidden'],
    ['on another channel’s key', { conversation_key: 'messenger:m1:key' }, 'forbidden'],
    ['as a person of another channel', { as: { ...as, channel: 'shell' } }, 'forbidden'],
    ['without a version', { version: undefined }, 'bad_request'],
    ['with an invalid version', { version: -1 }, 'bad_request'],
    ['with a text that is no string', { text: 5 }, 'bad_request'],
    ['with a text that is too long', { text: 'x'.repeat(1_000_001) }, 'bad_request'],
    ['of a message with a line in its name', { message_id: 'a\nb' }, 'bad_request'],
    ['by nobody', { as: {} }, 'bad_request'],
    ['with half of a character', { text: '\ud800' }, 'bad_request'],
  ])('%s is rejected', async (_what, over, code) => {
    expect(await exchange([amend(over)], 1)).toMatchObject([{ id: 4, error: { error: code } }]);
  });
});

test('closing does not wait for a stalled connector', async () => {
  socket.pause();
  await link.close();
});

test('a reply is not pushed while a reconnected connector is still showing it', async () => {
  const clock = createFakeClock();
  const sent: ChannelMessage[] = [];
  const sendToChannel = (message: ChannelMessage) => {
    sent.push(message);
    return Promise.resolve({ delivered: true } as const);
  };
  const own = await openTestCore({ clock, sendToChannel });
  const file = path.join(own.folder, 'run/core.sock');
  const server = await openLinkServer(own.context, file);
  const [first, second] = [linkTo(own, file), linkTo(own, file)];
  const finish = Promise.withResolvers<void>();
  own.engine.script(async function* () {
    yield { type: 'delta', text: 'so far' };
    await finish.promise;
    yield { type: 'segment', text: 'so far' };
    yield { type: 'done' };
  });
  const asked = envelope('work', { message_id: 'm1', channel_context: { chatId: 'room' } });
  const ask = (again: boolean) => JSON.stringify({ op: 'handle', id: 1, stream: again, confirm: true, again, envelope: asked });
  first.write(`${ask(false)}\n`);
  await expect.poll(() => own.context.pipeline.counts().running).toBe(1);
  expect(await exchange([ask(true)], 1, second)).toMatchObject([{ frame: { type: 'delta' } }]);
  first.destroy();
  finish.resolve();
  expect(await exchange([], 2, second)).toMatchObject([{ frame: { type: 'segment' } }, { result: { outcome: 'replied' } }]);
  clock.advance(60_000); // the channel is slow
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  second.destroy(); // now no link is left to confirm the reply
  await expect.poll(() => (clock.advance(6000), sent.length)).toBe(1);
  await server.close();
  own.drop();
});

describe('link socket', () => {
  /** A link server whose clock the test controls, and the file it listens on. */
  async function openOwn() {
    const clock = createFakeClock();
    const own = await openTestCore({ clock });
    const file = path.join(own.folder, 'run/core.sock');
    const server = await openLinkServer(own.context, file);
    onTestFinished(async () => {
      await server.close();
      own.drop();
    });
    return { own, file, server, look: () => clock.advance(2000) };
  }
  const reach = async (own: TestCore, file: string) => {
    const link = linkTo(own, file);
    onTestFinished(() => void link.destroy());
    await once(link, 'connect');
    return link;
  };

  test.each([
    ['is removed', (file: string) => rmSync(file)],
    ['is removed with its folder', (file: string) => rmSync(path.dirname(file), { recursive: true })],
    ['gives way to a plain file', (file: string) => (rmSync(file), writeFileSync(file, ''))],
    ['gives way to a link that leads nowhere', (file: string) => (rmSync(file), symlinkSync('/nowhere', file))],
    ['gets other rights', (file: string) => chmodSync(file, 0)],
    ['is moved elsewhere', (file: string) => renameSync(file, `${file}.old`)],
  ])('is created again when it %s, and open links continue', async (_what, harm) => {
    const { own, file, look } = await openOwn();
    const open = await reach(own, file);
    harm(file);
    look();
    const mode = () => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found?.isSocket() === true ? found.mode & 0o777 : null;
    };
    await expect.poll(mode).toBe(0o600);
    expect(await exchange([handle(1, false)], 1, open)).toMatchObject([{ id: 1, result: { outcome: 'replied' } }]);
    expect(await exchange([handle(2, false)], 1, await reach(own, file))).toMatchObject([
      { id: 2, result: { outcome: 'replied' } },
    ]);
  });

  test('reports a fault while it cannot be created again', async () => {
    const { own, file, server, look } = await openOwn();
    rmSync(file);
    mkdirSync(file);
    await expect.poll(() => (look(), server.fault())).toMatch(/^connectors cannot reach the core: .*core\.sock cannot be made/);
    rmSync(file, { recursive: true });
    await expect.poll(() => (look(), server.fault())).toBeNull();
    await reach(own, file);
  });

  test('is left alone while it is unchanged', async () => {
    const { own, file, look } = await openOwn();
    const facts = () => {
      const { ino, birthtimeNs } = statSync(file, { bigint: true });
      return { ino, birthtimeNs };
    };
    const before = facts();
    for (let times = 0; times < 3; times++) {
      look();
      await reach(own, file);
    }
    expect(facts()).toEqual(before);
  });

  test('is removed for good when its server closes', async () => {
    const { file, server, look } = await openOwn();
    await server.close();
    look();
    await new Promise((resolve) => setImmediate(resolve));
    expect(existsSync(file)).toBe(false);
  });
});

describe('acceptance of a message over the link', () => {
  const ask = (id: number, text: string, over: Partial<Envelope> = {}) =>
    JSON.stringify({ op: 'handle', id, stream: false, ack: true, envelope: envelope(text, over) });

  test('is sent once the message is in the journal, before any frame of its turn', async () => {
    const finish = Promise.withResolvers<void>();
    core.engine.script(async function* () {
      await finish.promise;
      yield { type: 'segment', text: 'done' };
      yield { type: 'done' };
    });
    const [accepted] = await exchange([ask(1, 'work', { message_id: 'm1' })], 1);
    const turn_id = accepted !== undefined && 'accepted' in accepted ? accepted.accepted.turn_id : '';
    expect(core.context.db.raw.prepare('SELECT id, open FROM turn').all()).toEqual([{ id: turn_id, open: 1 }]);
    // A repeat that joins the turn gets it, too.
    expect(await exchange([ask(2, 'work', { message_id: 'm1' })], 1)).toEqual([{ id: 2, accepted: { turn_id } }]);
    finish.resolve();
    expect(await exchange([], 2)).toMatchObject([{ result: { turn_id } }, { result: { turn_id } }]);
  });

  test.each([
    ['denied', { sender: { raw_id: 'stranger' } }, 'denied'],
    ['only observed', { delivery: 'async' as const }, 'observed'],
  ])('is not sent for a message that is %s: only the result is', async (_what, over, outcome) => {
    expect(await exchange([ask(1, 'hi', over)], 1)).toMatchObject([{ id: 1, result: { outcome } }]);
  });

  test('is not sent for a message answered earlier', async () => {
    await exchange([ask(1, 'hi', { message_id: 'm1' })], 2);
    expect(await exchange([ask(2, 'hi', { message_id: 'm1' })], 1)).toMatchObject([{ id: 2, result: { outcome: 'replied' } }]);
  });

  test('is not sent while nothing can be stored', async () => {
    core.context.db.raw.exec('PRAGMA max_page_count = 1');
    expect(await exchange([ask(1, 'hi'.repeat(200_000))], 1)).toMatchObject([{ id: 1, error: { ok: false } }]);
  });
});

describe('identity of a connector', () => {
  const request = (op: 'handle' | 'resolve', over: object, id = 1) =>
    JSON.stringify({ op, id, stream: false, envelope: { ...envelope('hi'), ...over } });
  const impersonations = () => core.telemetry.events.filter(({ payload }) => payload?.['what'] === 'impersonation');

  test.each([
    ['as the shell of the owner', { channel: 'shell' }, 'channel "shell"'],
    ['as the shell, on its key', { channel: 'shell', conversation_key: 'shell:owner' }, 'channel "shell"'],
    ['as another channel', { channel: 'messenger' }, 'channel "messenger"'],
    ['on another channel’s key', { conversation_key: 'messenger:m1:user:1' }, 'conversation "messenger:m1:user:1"'],
    ['on another instance’s key', { conversation_key: 'compat:c2:key' }, 'conversation "compat:c2:key"'],
    ['on a key that its own begins', { conversation_key: 'compat:c12:key' }, 'conversation "compat:c12:key"'],
    ['on a key of no form', { conversation_key: 'key' }, 'conversation "key"'],
    ['on a key in other letters', { conversation_key: 'compat:C1:key' }, 'conversation "compat:C1:key"'],
    ['on a key with a space', { conversation_key: ' compat:c1:key' }, 'conversation " compat:c1:key"'],
  ])('a request %s is rejected and reported', async (_what, over, claim) => {
    const replies = [await exchange([request('handle', over)], 1), await exchange([request('resolve', over, 2)], 1)].flat();
    for (const reply of replies)
      expect(reply).toMatchObject({
        error: { error: 'forbidden', message: `This link belongs to the compat instance c1, not to the ${claim}.` },
      });
    expect(impersonations()).toMatchObject([{ kind: 'instance', instance_id: 'c1' }, { surface: 'compat' }]);
    expect(core.engine.requests).toEqual([]);
  });

  test('resolves senders by the rules of its instance, whatever key they name', async () => {
    await core.addPrincipal('kim', 'known');
    writeFileSync(path.join(core.folder, 'instance-rules.json'), JSON.stringify({ c1: { allow: ['owner'], public: true } }));
    await core.app.inject({ method: 'POST', url: '/v2/instances/reload', payload: {} });
    const who = async (raw_id: string, over: object = {}) => {
      const [reply] = await exchange([request('resolve', { sender: { raw_id }, conversation_key: undefined, ...over })], 1);
      return reply !== undefined && 'identity' in reply ? [reply.identity.denied, reply.identity.trust_tier] : reply;
    };
    for (const over of [{}, { conversation_key: 'compat:c1:key' }, { public: false }]) {
      expect(await who('owner', over)).toEqual([false, 'TRUSTED']);
      expect(await who('kim', over)).toEqual([true, expect.anything()]);
    }
    const pass = core.context.connectorPasses.issue({ type: 'compat', instanceId: 'c1' }).reveal();
    const speak = (sender: string, headers: object) =>
      core.app.inject({ method: 'POST', url: `/v2/tts?sender=${sender}`, payload: { text: 'hi' }, headers: { ...headers } });
    expect((await speak('kim', { authorization: `Bearer ${pass}` })).json()).toMatchObject({ error: 'no_access' });
    // A request from this machine without a pass may not name a sender.
    expect((await speak('kim', {})).statusCode).toBe(400);
    expect((await speak('owner', { authorization: 'Bearer c1' })).statusCode).toBe(400);
  });

  test('gets no checkout for a conversation of another instance, and none from an invalid request', async () => {
    const checkout = (id: number, over: object) =>
      JSON.stringify({ op: 'checkout', id, checkout: { url: 'https://192.0.2.1/a', ...over } });
    const refusal = async (line: string) => (await exchange([line], 1))[0];
    expect(await refusal(checkout(1, { conversation_key: 'compat:c2:x' }))).toMatchObject({
      id: 1,
      error: { error: 'forbidden' },
    });
    expect(impersonations()).toHaveLength(1);
    for (const wrong of [{ url: 'file:///etc' }, { url: '--upload-pack=x' }, { ref: '-x' }, {}])
      expect(await refusal(checkout(2, wrong))).toMatchObject({ id: 2, error: { error: 'bad_request' } });
    expect(await refusal(JSON.stringify({ op: 'checkout', id: 3, checkout: { ref: 'main' } }))).toMatchObject({
      id: 3,
      error: { error: 'bad_request', message: expect.stringContaining('url') as string },
    });
  });

  test('allows valid requests after a rejected one', async () => {
    await exchange([request('handle', { channel: 'shell' })], 1);
    expect(await exchange([request('handle', {}, 2)], 1)).toMatchObject([{ id: 2, result: { outcome: 'replied' } }]);
  });

  test('cannot confirm or fail the delivery of a reply of another instance', async () => {
    const own = await openTestCore();
    const file = path.join(own.folder, 'run/core.sock');
    const server = await openLinkServer(own.context, file);
    const [victim, thief] = [linkTo(own, file), linkTo(own, file, { type: 'messenger', instanceId: 'm1' })];
    onTestFinished(async () => {
      victim.destroy();
      thief.destroy();
      await server.close();
      await own.close();
    });
    const asked = { op: 'handle', id: 1, confirm: true, envelope: envelope('hi', { channel_context: { chatId: 'room' } }) };
    const [answered] = await exchange([JSON.stringify(asked)], 1, victim);
    const turn_id = answered !== undefined && 'result' in answered ? answered.result.turn_id : '';
    const said = [
      { op: 'delivered', id: 5, turn_id },
      { op: 'delivered', id: 6, turn_id, error: 'no' },
    ].map((line) => JSON.stringify(line));
    expect(await exchange(said, 2, thief)).toMatchObject([
      { id: 5, error: { error: 'forbidden' } },
      { id: 6, error: { error: 'forbidden' } },
    ]);
    expect(own.context.pipeline.pendingAcks.isExpected(turn_id)).toBe(true);
  });

  test.each([
    ['without a pass', null],
    ['with no real pass', 'x.y'],
    ['with a pass of another installation', 'eyJ0eXBlIjoiY29tcGF0In0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ])('closes a link %s, with the reason', async (_what, pass) => {
    const stranger = connect(path.join(core.folder, 'run/core.sock'));
    const hello = pass === null ? [] : [JSON.stringify({ op: 'hello', id: 0, pass })];
    const replies = await exchange([...hello, handle(1, false)], 1, stranger);
    expect(replies).toMatchObject([{ error: { error: 'unauthorized' } }]);
    await expect.poll(() => stranger.destroyed || stranger.readableEnded).toBe(true);
    expect(core.engine.requests).toEqual([]);
  });

  test('closes a link that sends a second pass', async () => {
    const pass = core.context.connectorPasses.issue({ type: 'messenger', instanceId: 'm1' }).reveal();
    const [reply] = await exchange([JSON.stringify({ op: 'hello', id: 0, pass })], 1);
    expect(reply).toMatchObject({ id: 0, error: { error: 'bad_request' } });
    await expect.poll(() => socket.destroyed || socket.readableEnded).toBe(true);
  });

  test('closes a link after repeated impersonation, and reports it at most ten times a minute', async () => {
    const lines = Array.from({ length: 100 }, (_, i) => request('handle', { channel: 'shell' }, i + 1));
    const replies = await exchange(lines, 101);
    expect(replies.at(-1)).toMatchObject({ id: 0, error: { error: 'forbidden' } });
    await expect.poll(() => socket.destroyed || socket.readableEnded).toBe(true);
    expect(impersonations()).toHaveLength(10);
  });
});
