import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { CoreError, ServiceError, type Identity, type SessionsApi, type SessionStreamFrame } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

const frame = (seq: number, body: object): SessionStreamFrame =>
  ({ conversation_key: 'k', turn_id: 't1', seq, ...body }) as SessionStreamFrame;

/** The core refuses the next words for a conversation, and takes them after that. */
function refuseOnce(sessions: SessionsApi, isMeant: (key: string) => boolean): void {
  const { inject } = sessions;
  let isRefused = false;
  sessions.inject = async (as, key, said) => {
    if (isRefused || !isMeant(key)) return inject(as, key, said);
    isRefused = true;
    throw new CoreError('unavailable', 'The core is away.', { mayHaveRun: false });
  };
}

test('a device comes in with the code of its link, once, and is named to the owner', async () => {
  const gateway = await openGateway();
  const { code, url, device_id: id } = await gateway.invite('Phone');
  expect(url).toBe(`${gateway.live().url}/#pair=${code}`);
  expect(await gateway.listed()).toMatchObject([{ device_id: id, name: 'Phone', state: 'invited', online: false }]);
  const { status, body } = await gateway.json(null, 'POST', '/gw/pair', { code, platform: 'Android' });
  expect([status, body]).toEqual([
    200,
    {
      ok: true,
      token: expect.stringMatching(/^svcd_/),
      device: { id, name: 'Phone' },
      assistant: 'assistant',
      instance_id: 'inst_1',
    },
  ]);
  const refusals = await Promise.all(
    [code, 'never-given', 'x'.repeat(128)].map((wrong) => gateway.json(null, 'POST', '/gw/pair', { code: wrong })),
  );
  const said = refusals.map(({ status: refused, body: { message } }) => `${refused} ${message as string}`);
  expect(new Set(said)).toEqual(new Set([expect.stringMatching(/^403 This link is not good any more/)]));
  expect(await gateway.listed()).toMatchObject([{ state: 'paired', platform: 'Android' }]);
  expect(JSON.stringify(await gateway.listed())).not.toMatch(/token|svcd_/);
});

test('links name the base_url, which has to be one that the app can be at', async () => {
  const gateway = await openGateway({ base_url: 'https://Phone.example.org/' });
  expect((await gateway.invite('Phone')).url).toMatch(/^https:\/\/phone\.example\.org\/#pair=/);
  expect((await (await openGateway({ base_url: 'http://192.168.1.5:3028' })).invite('Phone')).url).toMatch(/^http:\/\/192/);
  for (const base_url of ['https://phone.example.org/app', 'phone.example.org', 'ftp://phone.example.org'])
    await expect(openGateway({ base_url })).rejects.toThrow(/^base_url has to/);
});

test('the owner says what a device may be used for', async () => {
  const gateway = await openGateway();
  const { device } = await gateway.device('Phone');
  const change = (method: string, capability: unknown) => gateway.call(method, { device_id: device.id, capability });
  expect(await change('allow', 'geolocation')).toMatchObject({ allowed: ['notify', 'vibrate', 'wake_lock', 'geolocation'] });
  expect(await change('deny', 'notify')).toMatchObject({ allowed: ['vibrate', 'wake_lock', 'geolocation'] });
  await gateway.restart();
  expect(await gateway.listed()).toMatchObject([{ allowed: ['vibrate', 'wake_lock', 'geolocation'] }]);
  for (const wrong of ['Open URL', '', 7, undefined, 'x'.repeat(100)])
    await expect(change('allow', wrong)).rejects.toMatchObject({ code: 'bad_request' });
  await expect(gateway.call('allow', { device_id: 'd_unknown', capability: 'notify' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('wrong codes are slowed down, and a good one is taken all the same', async () => {
  const gateway = await openGateway();
  const { code } = await gateway.invite('Phone');
  const answers = [];
  for (let n = 0; n < 25; n++) answers.push((await gateway.json(null, 'POST', '/gw/pair', { code: `wrong-${n}` })).status);
  expect([answers.slice(0, 20).every((status) => status === 403), answers.at(-1)]).toEqual([true, 429]);
  expect((await gateway.json(null, 'POST', '/gw/pair', { code })).status).toBe(200);
});

test('every other route wants the token in the header, and a token in the address is none', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  for (const [method, where] of [
    ['GET', '/gw/stream'],
    ['GET', '/gw/control'],
    ['POST', '/gw/turn'],
    ['POST', '/gw/stop'],
    ['POST', '/gw/answer'],
    ['POST', '/gw/forget'],
    ['GET', '/gw/sessions'],
    ['GET', '/gw/history'],
    ['GET', '/gw/presence'],
    ['PATCH', '/gw/device'],
    ['DELETE', '/gw/device'],
    ['POST', '/gw/upload?filename=a'],
    ['POST', '/gw/transcribe'],
    ['POST', '/gw/tts'],
    ['GET', '/gw/theme'],
    ['GET', '/gw/wake'],
    ['GET', '/gw/wake/file'],
    ['GET', '/gw/app'],
    ['GET', '/gw/download'],
    ['GET', '/gw/devices'],
    ['POST', '/gw/rpc'],
    ['POST', '/gw/rpc-result'],
    ['GET', '/gw/voice-config'],
    ['POST', '/gw/voice-config'],
  ] as const) {
    const mark = where.includes('?') ? '&' : '?';
    for (const [given, at] of [
      [null, where],
      ['svcd_wrong', where],
      [null, `${where}${mark}token=${token}`],
    ] as const)
      expect(`${method} ${at} ${(await gateway.ask(given, method, at, method === 'GET' ? undefined : {})).status}`).toMatch(
        / (401|429)$/,
      );
  }
  expect((await gateway.json(token, 'GET', '/gw/history')).status).toBe(200);
});

test('a message is answered once it is safe, as the device of its person, and its turn is seen on the stream', async () => {
  const gateway = await openGateway();
  const { token, device } = await gateway.device('Phone');
  const key = `device:inst_1:device:${device.id}`;
  const stream = await gateway.read(token);
  await expect.poll(stream.types).toEqual(['ready']);
  const [watch] = gateway.core().watches;
  expect([watch?.key, watch?.as]).toEqual([key, { channel: 'device', sender: { raw_id: device.id, raw_username: 'Phone' } }]);
  const end = Promise.withResolvers<void>();
  gateway.core().script = async ({ result }) => {
    await end.promise;
    return result();
  };
  const said = await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  expect([said.status, said.body]).toEqual([202, { ok: true, conversation_key: key, message_id: 'm1', turn_id: 'turn_1' }]);
  expect(gateway.core().turns[0]?.envelope).toMatchObject({
    conversation_key: key,
    message_id: 'm1',
    keeps: true,
    content: { text: 'hello' },
  });
  watch?.handlers.onFrame(
    frame(5, {
      type: 'begin',
      origin: 'message',
      channel: 'device',
      sender: 'Phone',
      message_id: 'm1',
      text: 'hello',
      attachments: [],
    }),
  );
  watch?.handlers.onFrame(frame(6, { type: 'delta', text: 'hi' }));
  watch?.handlers.onFrame(frame(7, { type: 'segment', text: 'hi' }));
  watch?.handlers.onFrame(frame(8, { type: 'end', outcome: 'replied', text: 'hi' }));
  end.resolve();
  await expect.poll(stream.types).toEqual(['ready', 'inject', 'delta', 'place', 'done']);
  expect(stream.events.map(({ id }) => id)).toEqual([null, '5', '6', '7', '8']);
  expect(stream.events[1]?.data).toMatchObject({ type: 'inject', turn_id: 't1', message_id: 'm1', text: 'hello' });
});

test('who comes back goes on behind the last event, also at another process of the gateway', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  await gateway.restart();
  const watched: unknown[] = [];
  const { sessions } = gateway.core();
  const watch = sessions.watch;
  sessions.watch = (as, key, handlers, options) => {
    watched.push(options);
    return watch(as, key, handlers, options);
  };
  await gateway.read(token, '/gw/stream', { 'last-event-id': '41' });
  await gateway.read(token);
  expect(watched).toEqual([{ after: 41 }, {}]);
  for (const wrong of ['x', '0', '-1', '1e99'])
    expect((await gateway.read(token, '/gw/stream', { 'last-event-id': wrong })).status).toBe(400);
});

test('a conversation that is not there yet is read as soon as it begins, and the reader looks at what was said', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const stream = await gateway.read(token);
  const missing = new CoreError('not_found', 'There is no session.', { mayHaveRun: false });
  gateway.core().watches[0]?.handlers.onEnd?.(missing);
  await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  expect(gateway.core().watches).toHaveLength(2);
  gateway.core().watches[1]?.handlers.onFrame(frame(1, { type: 'delta', text: 'hi' }));
  await expect.poll(stream.types).toEqual(['ready', 'gap', 'delta']);
});

test('the first answer of a device is seen, also when it was over before its conversation could be read', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const stream = await gateway.read(token);
  const missing = new CoreError('not_found', 'There is no session.', { mayHaveRun: false });
  gateway.core().watches[0]?.handlers.onEnd?.(missing);
  const said = await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  gateway.core().watches[1]?.handlers.onFrame({ conversation_key: 'k', seq: 1, type: 'watching', message: '' });
  await expect.poll(stream.types).toEqual(['ready', 'gap', 'place', 'delta', 'done']);
  expect(stream.events.at(-1)?.data).toEqual({
    type: 'done',
    conversation_key: said.body['conversation_key'],
    turn_id: said.body['turn_id'],
    outcome: 'replied',
    text: 'echo: hello',
  });
});

test('a conversation that is there only when its first turn is over is read then', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  await gateway.read(token);
  const missing = new CoreError('not_found', 'There is no session.', { mayHaveRun: false });
  const { watches } = gateway.core();
  watches[0]?.handlers.onEnd?.(missing);
  gateway.core().script = ({ result }) => {
    watches[1]?.handlers.onEnd?.(missing);
    return result();
  };
  await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  await expect.poll(() => watches.length).toBe(3);
});

test('a stream ends with the right to read it, and with the device; what it watched is let go', async () => {
  const gateway = await openGateway();
  const { token, device } = await gateway.device('Phone');
  const [refused, gone, control] = [
    await gateway.read(token),
    await gateway.read(token),
    await gateway.read(token, '/gw/control'),
  ];
  gateway.core().watches[0]?.handlers.onEnd?.(new CoreError('forbidden', 'no', { mayHaveRun: false }));
  await refused.ended;
  expect(await gateway.listed()).toMatchObject([{ online: true }]);
  await gateway.call('revoke', { device_id: device.id });
  await Promise.all([gone.ended, control.ended]);
  await expect.poll(() => gateway.core().watches.every(({ isOver }) => isOver)).toBe(true);
  expect((await gateway.json(token, 'GET', '/gw/history')).status).toBe(401);
  expect(await gateway.listed()).toEqual([]);
});

test('of a message that is not valid every field is named', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const { status, body } = await gateway.json(token, 'POST', '/gw/turn', { text: 7, attachments: 'a' });
  expect([status, body]).toMatchObject([
    400,
    {
      error: 'bad_request',
      message:
        'The request is not valid: body.message_id is missing; body.text must be a string; body.attachments must be a list.',
      fields: [{ field: 'body.message_id' }, { field: 'body.text' }, { field: 'body.attachments' }],
    },
  ]);
});

test('no name that a device gives itself keeps the others out, or has what is meant for another', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const rename = async (name: string) => (await gateway.json(bob.token, 'PATCH', '/gw/device', { name })).status;
  for (const name of ['   ', 'a\u0007', '\n', '😀'.repeat(50)]) expect([name, await rename(name)]).toEqual([name, 400]);
  expect(await rename('Ann')).toBe(409);
  await expect(gateway.call('rename', { device_id: bob.device.id, name: 'Ann' })).rejects.toMatchObject({ code: 'conflict' });
  expect([await rename(' Bob '), await rename('Bobby')]).toEqual([200, 200]);
  await gateway.restart();
  expect(gateway.live().health()).toEqual({ healthy: true });
  expect((await gateway.listed()).map(({ name }) => name)).toEqual(['Ann', 'Bobby']);
  expect((await gateway.json(ann.token, 'GET', '/gw/history')).status).toBe(200);
});

test('where a keys file has a name twice, what is sent names the device by its id', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const file = path.join(gateway.folder, 'keys.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"name": "Bob"', '"name": "Ann"'));
  await gateway.restart();
  const control = await gateway.read(ann.token, '/gw/control');
  await expect.poll(control.types).toEqual(['ready']);
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect(send('Ann')).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('by its id') });
  await expect(send(bob.device.id)).rejects.toMatchObject({ code: 'busy' });
  await send(ann.device.id);
  await expect.poll(control.types).toEqual(['ready', 'speak']);
});

test('what takes no more than a conversation takes nothing, too: then it is the own one', async () => {
  const gateway = await openGateway();
  const { token, device } = await gateway.device('Phone');
  const { sessions } = gateway.core();
  const asked: string[] = [];
  sessions.forget = async (_as, key) => void asked.push(key);
  sessions.abort = async (_as, key) => void asked.push(key);
  for (const where of ['/gw/forget', '/gw/stop']) {
    expect((await gateway.json(token, 'POST', where)).status).toBe(200);
    const named = await gateway.json(token, 'POST', where, undefined, { 'content-type': 'application/json' });
    expect(named.status).toBe(200);
  }
  expect(asked).toEqual(Array.from({ length: 4 }, () => `device:inst_1:device:${device.id}`));
  expect((await gateway.json(token, 'POST', '/gw/turn')).status).toBe(415);
});

test('a device that signs out is gone', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const stream = await gateway.read(token);
  expect((await gateway.json(token, 'DELETE', '/gw/device')).status).toBe(200);
  await stream.ended;
  expect((await gateway.json(token, 'GET', '/gw/history')).status).toBe(401);
});

test('who may not ask gets no stream, and no turn', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  gateway.core().resolve = async () => ({ denied: true }) as Identity;
  expect((await gateway.read(token)).status).toBe(403);
  gateway.core().script = ({ result }) => result({ outcome: 'denied', actions: [{ type: 'reply', text: 'no access' }] });
  gateway.core().handleStream = async (envelope, handlers, options) =>
    gateway.core().script({
      envelope,
      handlers,
      options: options ?? {},
      result: (fields) => ({ actions: [], outcome: 'replied', conversation_key: '', turn_id: 't', ...fields }),
    });
  const { status, body } = await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  expect([status, body['error'], body['message']]).toEqual([403, 'no_access', 'no access']);
});

test('the conversation of another is the core\u2019s to open: what it refuses is refused here', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const refuse = () =>
    Promise.reject(new CoreError('forbidden', 'This is the conversation of another person.', { mayHaveRun: false }));
  Object.assign(gateway.core().sessions, { history: refuse, abort: refuse, forget: refuse });
  const key = 'device:inst_1:device:d_other';
  const asked = [
    await gateway.json(token, 'GET', `/gw/stream?conversation_key=${key}`),
    await gateway.json(token, 'GET', `/gw/history?conversation_key=${key}`),
    await gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1', conversation_key: key }),
    await gateway.json(token, 'POST', '/gw/stop', { conversation_key: key }),
    await gateway.json(token, 'POST', '/gw/forget', { conversation_key: key }),
  ];
  expect(asked.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  expect([gateway.core().turns.length, gateway.core().watches.length]).toEqual([0, 0]);
});

test('words for another conversation are said there once, however often they are sent', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const said = { text: 'hello', message_id: 'm1', conversation_key: 'messenger:m:channel:1' };
  for (let n = 0; n < 3; n++)
    expect((await gateway.json(token, 'POST', '/gw/turn', said)).body).toMatchObject({ ok: true, turn_id: null });
  await gateway.restart();
  expect((await gateway.json(token, 'POST', '/gw/turn', said)).status).toBe(202);
  expect(gateway.core().turns).toEqual([]);
});

test('attempts at words for another conversation that meet are one after the other: each knows what came of the one before', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const say = (message_id: string) =>
    gateway.json(token, 'POST', '/gw/turn', { text: 'hello', message_id, conversation_key: 'messenger:m:channel:1' });
  expect((await Promise.all([say('m1'), say('m1')])).map(({ status }) => status)).toEqual([202, 202]);
  expect(gateway.core().turns.map(({ envelope }) => envelope.message_id)).toEqual(['m1']);
  refuseOnce(gateway.core().sessions, () => true);
  expect((await Promise.all([say('m2'), say('m2')])).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 503]);
  expect(gateway.core().turns.map(({ envelope }) => envelope.message_id)).toEqual(['m1', 'm2']);
});

test('a message that ends what runs ends it once, however often it is sent, and over a restart', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  let ended = 0;
  const count = () => Object.assign(gateway.core().sessions, { abort: async () => void ended++ });
  count();
  const say = (message_id: string) => gateway.json(token, 'POST', '/gw/turn', { text: 'no, this', message_id, interrupt: true });
  expect((await Promise.all([say('m1'), say('m1')])).map(({ status }) => status)).toEqual([202, 202]);
  await say('m1');
  expect(ended).toBe(1);
  await gateway.restart();
  count();
  await say('m1');
  expect(ended).toBe(1);
  await say('m2');
  expect(ended).toBe(2);
});

test('a message whose stop did not arrive ends what runs when it is sent again', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const say = () => gateway.json(token, 'POST', '/gw/turn', { text: 'no, this', message_id: 'm1', interrupt: true });
  let ended = 0;
  Object.assign(gateway.core().sessions, {
    abort: async () => {
      if (++ended === 1) throw new CoreError('unavailable', 'The core is away.', { mayHaveRun: false });
    },
  });
  expect([(await say()).status, (await say()).status, ended]).toEqual([503, 202, 2]);
});

test('a file goes with a message of the device that has uploaded it, and with no other', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const upload = await gateway.json(
    ann.token,
    'POST',
    '/gw/upload?filename=a.txt&mime=text/plain',
    new TextEncoder().encode('hello'),
  );
  const { path: file } = upload.body['file'] as { path: string };
  const message = { text: 'look', message_id: 'm1', attachments: [file] };
  expect((await gateway.json(bob.token, 'POST', '/gw/turn', message)).status).toBe(403);
  expect((await gateway.json(ann.token, 'POST', '/gw/turn', { ...message, attachments: ['/etc/passwd'] })).status).toBe(403);
  expect((await gateway.json(ann.token, 'POST', '/gw/turn', message)).status).toBe(202);
  expect(gateway.core().turns.map(({ envelope }) => envelope.content.attachments)).toEqual([
    [expect.objectContaining({ path: file, name: 'a.txt' })],
  ]);
});

test('speech is asked for as the device, and its settings are kept for it alone', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { language: 'de', read_aloud: true })).status).toBe(200);
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { language: 7 })).status).toBe(400);
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { key: 'secret' })).status).toBe(400);
  await gateway.restart();
  expect((await gateway.json(ann.token, 'GET', '/gw/voice-config')).body).toEqual({
    ok: true,
    config: { language: 'de', read_aloud: true },
  });
  expect((await gateway.json(bob.token, 'GET', '/gw/voice-config')).body).toEqual({ ok: true, config: {} });
  const heard = await gateway.json(ann.token, 'POST', '/gw/transcribe', new TextEncoder().encode('a clip'), {
    'content-type': 'audio/webm',
  });
  expect([heard.status, heard.body]).toEqual([200, expect.objectContaining({ ok: true, language: 'de' })]);
  const spoken = await gateway.json(ann.token, 'POST', '/gw/tts', { text: 'good morning' });
  expect(spoken.body).toEqual({ sender: ann.device.id, text: 'good morning' });
});

test('what is sent to a device is read aloud where it can be reached, or waits', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect(send(ann.device.id)).rejects.toMatchObject({ code: 'busy' });
  await expect(send('*')).rejects.toMatchObject({ code: 'busy' });
  await expect(send('nobody')).rejects.toMatchObject({ code: 'unprocessable' });
  const [stream, control] = [await gateway.read(ann.token), await gateway.read(bob.token, '/gw/control')];
  await send('*');
  await send('Ann');
  await expect.poll(stream.types).toEqual(['ready', 'speak', 'speak']);
  await expect.poll(control.types).toEqual(['ready', 'speak']);
});

test('a device whose person is let in no more holds no link, is told nothing and stores nothing', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const { core } = gateway.fake().context;
  const resolve = core.resolve.bind(core);
  const isDenied = { now: false };
  core.resolve = async (who) => ({
    ...(await resolve(who)),
    ...(isDenied.now && who.sender.raw_id === bob.device.id && { denied: true }),
  });
  const send = (target: string, kind = 'speak') =>
    gateway.live().send!({ id: `${kind} ${target}`, kind, target, text: 'Dinner.' } as never, new AbortController().signal);
  const [own, others] = [await gateway.read(ann.token, '/gw/control'), await gateway.read(bob.token, '/gw/control')];
  await expect.poll(others.types).toEqual(['ready']);
  isDenied.now = true;
  await send('*');
  await expect.poll(own.types).toEqual(['ready', 'speak']);
  expect(others.types()).toEqual(['ready']);
  await others.ended;
  await send('*', 'inject');
  expect(gateway.core().turns.map(({ envelope }) => envelope.sender.raw_id)).toEqual([ann.device.id]);
  for (const kind of ['speak', 'inject']) await expect(send('Bob', kind)).rejects.toMatchObject({ code: 'no_access' });
  const file = new TextEncoder().encode('hello');
  for (const [method, where, body] of [
    ['GET', '/gw/control'],
    ['POST', '/gw/upload?filename=a.txt', file],
    ['POST', '/gw/uploads', { filename: 'a.txt', size: 5 }],
    ['PUT', '/gw/uploads/upl_1?index=0', file],
    ['POST', '/gw/uploads/upl_1', {}],
  ] as const)
    expect(`${where} ${(await gateway.ask(bob.token, method, where, body)).status}`).toBe(`${where} 403`);
});

test('a control link ends as soon as its person is let in no more, also where nothing is sent to it', async () => {
  const gateway = await openGateway();
  const { token, device } = await gateway.device('Phone');
  const control = await gateway.read(token, '/gw/control');
  await expect.poll(control.types).toEqual(['ready']);
  const [watch] = gateway.core().watches;
  expect(watch).toMatchObject({ as: { sender: { raw_id: device.id } }, key: `device:inst_1:device:${device.id}` });
  watch?.handlers.onEnd?.(new CoreError('no_access', 'no access', { mayHaveRun: false }));
  await control.ended;
  const again = await gateway.read(token, '/gw/control');
  again.leave();
  await expect.poll(() => gateway.core().watches.at(-1)?.isOver).toBe(true);
});

test('who comes without a token, where that is let in, is spoken to as others are', async () => {
  const gateway = await openGateway({ require_token: false });
  const control = await gateway.read('', '/gw/control');
  for (const target of ['*', 'local'])
    await gateway.live().send!({ id: target, kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect.poll(control.types).toEqual(['ready', 'speak', 'speak']);
});

test('what is said in the conversation of a device is delivered when it is not refused at once, though its turn goes on', async () => {
  const clock = createFakeClock();
  const gateway = await openGateway({}, {}, { clock });
  const { device } = await gateway.device('Phone');
  gateway.core().script = () => new Promise(() => undefined);
  const send = () =>
    gateway.live().send!({ id: 's1', kind: 'inject', target: device.id, text: 'Note.' } as never, new AbortController().signal);
  const sent = send();
  await expect.poll(() => gateway.core().turns.length).toBe(1);
  clock.advance(2_000);
  await sent;
  let isDone = false;
  const repeat = send().then(() => (isDone = true));
  await expect.poll(() => (clock.advance(2_000), isDone)).toBe(true);
  await repeat;
  expect(gateway.core().turns.map(({ envelope }) => envelope.message_id)).toEqual(['s1']);
});

test('what is said to every device is said to each once, also where one has refused it', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  for (const { token } of [ann, bob]) await expect.poll((await gateway.read(token)).types).toEqual(['ready']);
  refuseOnce(gateway.core().sessions, (key) => key.endsWith(ann.device.id));
  const send = () =>
    gateway.live().send!({ id: 's1', kind: 'inject', target: '*', text: 'Note.' } as never, new AbortController().signal);
  await expect(send()).rejects.toMatchObject({ code: 'unavailable' });
  await send();
  await send();
  const keys = gateway.core().turns.map(({ envelope }) => envelope.conversation_key);
  expect(keys).toEqual([bob, ann].map(({ device }) => `device:inst_1:device:${device.id}`));
});

test('a device that may not be spoken to so keeps what is said from no other', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  for (const { token } of [ann, bob]) await expect.poll((await gateway.read(token)).types).toEqual(['ready']);
  const { sessions } = gateway.core();
  const { inject } = sessions;
  sessions.inject = async (as, key, said) => {
    if (!key.endsWith(bob.device.id)) return inject(as, key, said);
    throw new CoreError('forbidden', 'inject is for people who are known, and above.', { mayHaveRun: false });
  };
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'inject', target, text: 'Note.' } as never, new AbortController().signal);
  await send('*');
  await expect(send('Bob')).rejects.toMatchObject({ code: 'forbidden' });
  expect(gateway.core().turns.map(({ envelope }) => envelope.sender.raw_id)).toEqual([ann.device.id]);
});

test('the conversation of a device that has said nothing yet begins with what is said to it', async () => {
  const gateway = await openGateway();
  const { device } = await gateway.device('Phone');
  gateway.core().sessions.inject = async () => {
    throw new CoreError('not_found', 'There is no such session.', { mayHaveRun: false });
  };
  const message = { id: 's1', kind: 'inject', target: 'Phone', text: 'Note.' };
  await gateway.live().send!(message as never, new AbortController().signal);
  expect(gateway.core().turns.map(({ envelope }) => envelope)).toEqual([
    expect.objectContaining({
      conversation_key: `device:inst_1:device:${device.id}`,
      message_id: 's1',
      sender: { raw_id: device.id, raw_username: 'Phone' },
      content: { text: 'Note.' },
      keeps: true,
    }),
  ]);
});

test('while the keys file is broken nobody is let in, each is told why, and neither a token nor a code is lost', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const { code } = await gateway.invite('Tablet');
  const file = path.join(gateway.folder, 'keys.json');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, 'broken');
  const history = () => gateway.json(token, 'GET', '/gw/history');
  const pair = () => gateway.json(null, 'POST', '/gw/pair', { code });
  await expect.poll(async () => (await history()).status).toBe(503);
  for (const { status, body } of [await history(), await pair()])
    expect([status, body['message']]).toEqual([503, expect.stringContaining('The keys file lets nobody in')]);
  expect(gateway.live().health()).toEqual({ healthy: false, detail: expect.stringContaining('The keys file lets nobody in') });
  expect((await gateway.json(null, 'GET', '/health')).body).toMatchObject({ status: 'degraded' });

  writeFileSync(file, good);
  await expect.poll(async () => (await history()).status).toBe(200);
  expect([(await pair()).status, (await pair()).status]).toEqual([200, 403]);
});

test('without tokens whoever comes is the device "local", and a wrong token is still wrong', async () => {
  const gateway = await openGateway({ require_token: false });
  await gateway.json(null, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  expect(gateway.core().turns[0]?.envelope.sender).toEqual({ raw_id: 'local', raw_username: 'local' });
  expect((await gateway.json('svcd_wrong', 'GET', '/gw/history')).status).toBe(401);
});

test('the app is served with a policy that runs no text as code', async () => {
  const gateway = await openGateway();
  writeFileSync(path.join(gateway.folder, 'index.html'), '<!doctype html>');
  await gateway.restart();
  const page = await gateway.ask(null, 'GET', '/');
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("require-trusted-types-for 'script'"),
  ]);
  expect((await gateway.ask(null, 'GET', '/conversation')).status).toBe(404);
});

test('what the operator offers is described by its digest, and loaded whole, also after it was replaced', async () => {
  const gateway = await openGateway({ wake_model: 'wake.onnx', app_package: 'app.apk', wake_phrases: ['hey'] });
  const { token } = await gateway.device('Phone');
  const get = (where: string) => gateway.json(token, 'GET', where);
  expect([(await get('/gw/wake')).status, (await get('/gw/app')).status]).toEqual([404, 404]);
  expect((await get('/gw/theme')).body['wake']).toEqual({ enabled: false, url: null, phrases: [] });
  writeFileSync(path.join(gateway.folder, 'wake.onnx'), 'a model');
  for (const content of ['an app', 'another app', '']) {
    writeFileSync(path.join(gateway.folder, 'app.apk'), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const facts = { sha256, bytes: content.length };
    expect((await get('/gw/app')).body).toEqual({ ok: true, version: sha256.slice(0, 12), url: '/gw/download', ...facts });
    const loaded = await gateway.ask(token, 'GET', '/gw/download');
    expect([await loaded.text(), loaded.headers.get('etag')]).toEqual([content, `"${sha256}"`]);
    const again = await gateway.ask(token, 'GET', '/gw/download', undefined, { 'if-none-match': `"${sha256}"` });
    expect(again.status).toBe(304);
  }
  expect((await get('/gw/wake')).body).toMatchObject({ url: '/gw/wake/file', bytes: 7 });
  expect((await get('/gw/theme')).body['wake']).toEqual({ enabled: true, url: '/gw/wake/file', phrases: ['hey'] });
  const bare = await openGateway();
  expect((await bare.ask(null, 'GET', '/gw/app')).status).toBe(401);
  const { status, body } = await bare.json((await bare.device('Phone')).token, 'GET', '/gw/wake');
  expect([status, body['message']]).toEqual([404, 'The operator offers no wake word model.']);
});

test('where the operator offers nothing, that is what is said', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const messages = ['/gw/wake', '/gw/app'].map(async (where) => (await gateway.json(token, 'GET', where)).body['message']);
  expect(await Promise.all(messages)).toEqual(['The operator offers no wake word model.', 'The operator offers no app package.']);
});

test('a thousand reconnects leave nothing behind, and one device that is dead holds up no other', async () => {
  const gateway = await openGateway();
  const [ann, dead] = [await gateway.device('Ann'), await gateway.device('Dead')];
  for (let n = 0; n < 1000; n += 50) {
    const streams = await Promise.all(Array.from({ length: 50 }, () => gateway.read(ann.token)));
    for (const { leave } of streams) leave();
  }
  await expect.poll(() => gateway.core().watches.every(({ isOver }) => isOver)).toBe(true);
  expect(gateway.core().watches.length).toBeGreaterThan(500);
  expect((await gateway.listed()).map(({ online }) => online)).toEqual([false, false]);
  const stalled = connect(gateway.live().port!, '127.0.0.1');
  stalled.write(`GET /gw/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${dead.token}\r\n\r\n`);
  await once(stalled, 'data');
  stalled.pause();
  const stream = await gateway.read(ann.token);
  const text = 'x'.repeat(100_000);
  for (let n = 1; n <= 60; n++) {
    await gateway.live().send!({ id: `s${n}`, kind: 'speak', target: '*', text } as never, new AbortController().signal);
    await expect.poll(() => stream.events.length, { interval: 5 }).toBe(n + 1);
  }
  await expect.poll(async () => (await gateway.listed()).map(({ online }) => online)).toEqual([true, false]);
  stalled.destroy();
});

test('a clip that is empty, too long or refused is answered as text, without those of the provider’s key', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const clip = (bytes: number, type = 'audio/webm') =>
    gateway.json(token, 'POST', '/gw/transcribe', new Uint8Array(bytes), { 'content-type': type });
  expect((await clip(0)).status).toBe(400);
  expect((await clip(26 * 1024 * 1024)).status).toBe(413);
  gateway.fake().context.speech.transcribe = async () => {
    throw new ServiceError('unprocessable', 'The provider does not take this clip.');
  };
  for (const type of ['text/html', 'audio/../../x', 'application/json']) {
    const { status, body } = await clip(10, type);
    expect([status, body['message']]).toEqual([422, 'The provider does not take this clip.']);
  }
  expect((await gateway.json(token, 'POST', '/gw/tts', { text: 'x'.repeat(10_001) })).status).toBe(400);
  expect((await gateway.json(token, 'POST', '/gw/tts', { text: '' })).status).toBe(400);
});

test('a file of the conversation is had by its device alone, to be saved and never to be run', async () => {
  const gateway = await openGateway();
  const [phone, other] = [await gateway.device('Phone'), await gateway.device('Other')];
  const key = (id: string) => `device:inst_1:device:${id}`;
  const saved = await gateway.fake().context.uploads.save({
    name: 'page.html',
    mime: 'text/html',
    data: Buffer.from('<script>alert(1)</script>'),
    conversation_key: key(phone.device.id),
  });
  const where = `/gw/file?path=${encodeURIComponent(saved.path)}`;
  const answer = await gateway.ask(phone.token, 'GET', where);
  expect(await answer.text()).toBe('<script>alert(1)</script>');
  expect([answer.status, answer.headers.get('content-disposition'), answer.headers.get('content-security-policy')]).toEqual([
    200,
    'attachment',
    "sandbox; default-src 'none'",
  ]);
  expect((await gateway.ask(other.token, 'GET', where)).status).toBe(403);
  gateway.core().sessions.history = () =>
    Promise.reject(new CoreError('forbidden', 'This is the conversation of another person.', { mayHaveRun: false }));
  const theirs = `${where}&conversation_key=${encodeURIComponent(key(phone.device.id))}`;
  expect((await gateway.ask(other.token, 'GET', theirs)).status).toBe(403);
  expect((await gateway.ask(null, 'GET', where)).status).toBe(401);
  expect((await gateway.ask(phone.token, 'GET', '/gw/file')).status).toBe(400);
});

test('a file in chunks goes on where it broke off, over a restart, and is of its device alone', async () => {
  const gateway = await openGateway();
  const [phone, other] = [await gateway.device('Phone'), await gateway.device('Other')];
  const content = Buffer.from('0123456789abcdefghij');
  const begun = await gateway.json(phone.token, 'POST', '/gw/uploads', { filename: 'film.bin', size: content.length });
  expect(begun).toMatchObject({ status: 200, body: { ok: true, chunk_size: 8, chunks: 3, received: [] } });
  const at = `/gw/uploads/${begun.body['upload_id'] as string}`;
  const put = async (token: string, index: number, headers = {}) =>
    (await gateway.ask(token, 'PUT', `${at}?index=${index}`, content.subarray(index * 8, index * 8 + 8), headers)).status;
  const digest = createHash('sha256').update(content.subarray(16)).digest('hex');
  expect([
    await put(phone.token, 2, { 'x-chunk-sha256': digest }),
    await put(phone.token, 0, { 'x-chunk-sha256': digest }),
  ]).toEqual([200, 422]);
  for (const [method, body] of [
    ['GET', undefined],
    ['POST', {}],
    ['DELETE', undefined],
  ] as const)
    expect((await gateway.ask(other.token, method, at, body)).status).toBe(404);
  expect(await put(other.token, 0)).toBe(404);
  expect((await gateway.json(phone.token, 'GET', at)).body).toMatchObject({ received: [2] });
  expect((await gateway.ask(phone.token, 'POST', at, {})).status).toBe(409);
  expect([await put(phone.token, 0), await put(phone.token, 1)]).toEqual([200, 200]);
  const { body } = await gateway.json(phone.token, 'POST', at, {});
  expect(gateway.fake().saved.at(-1)?.content).toEqual(content);
  const attachments = [(body['file'] as { path: string }).path];
  const says = (token: string) =>
    gateway.ask(token, 'POST', '/gw/turn', { text: '', message_id: `m-${token.length}`, attachments });
  expect([(await says(other.token)).status, (await says(phone.token)).status]).toEqual([403, 202]);
  expect((await gateway.ask(phone.token, 'PUT', at, Buffer.from('x'))).status).toBe(400);
});
