import { CoreError, type Identity } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { frame, openGateway, refuseOnce } from './open-gateway.ts';

test('accepts a message as its device once the core has it, and shows the turn on the stream', async () => {
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

test('names every invalid field of a message', async () => {
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

test("a request without a body applies to the device's own conversation", async () => {
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

test('a caller without access gets neither a stream nor a turn', async () => {
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

test('passes on the refusal of the core for a conversation of another person', async () => {
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

test('injects a message into another conversation once, however often it is sent', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const said = { text: 'hello', message_id: 'm1', conversation_key: 'messenger:m:channel:1' };
  for (let n = 0; n < 3; n++)
    expect((await gateway.json(token, 'POST', '/gw/turn', said)).body).toMatchObject({ ok: true, turn_id: null });
  await gateway.restart();
  expect((await gateway.json(token, 'POST', '/gw/turn', said)).status).toBe(202);
  expect(gateway.core().turns).toEqual([]);
});

test('handles simultaneous attempts at a message for another conversation one after the other', async () => {
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

test('an interrupting message aborts the running turn once, also after a restart', async () => {
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

test('an interrupting message that is sent again aborts the turn if its first abort failed', async () => {
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
