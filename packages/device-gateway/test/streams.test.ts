import { once } from 'node:events';
import { connect } from 'node:net';
import { CoreError } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { frame, openGateway } from './open-gateway.ts';

test('a stream resumes after the last event id, also after a restart of the gateway', async () => {
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

test('a stream watches a conversation as soon as it begins, and reports a gap', async () => {
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

test('a stream shows the first answer of a device, even if it ended before the conversation could be watched', async () => {
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

test('watches a conversation that exists only after its first turn', async () => {
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

test('a stream ends with the right to read it or with the device, and releases its watches', async () => {
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

test('a device whose person is denied has no control link, gets no messages and stores nothing', async () => {
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

test('a control link ends as soon as its person loses access, also when idle', async () => {
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

test('a thousand reconnects leave no watch behind, and a stalled device does not block others', async () => {
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
