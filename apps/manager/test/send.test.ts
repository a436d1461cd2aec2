import { describe, expect, test } from 'vitest';
import { openManager } from './open-manager.ts';
import { openPostboxBench } from './open-postbox-bench.ts';
import { eventually } from './waiting.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

const bench = openPostboxBench();
const { create, list, posted, send } = bench;

describe('POST /send', () => {
  test('delivers to the channel, and returns the instance and the id', async () => {
    const { id } = await create();
    const { status, body } = await send({ instance_id: id, target: 'b1', text: 'hello' });
    expect([status, body]).toEqual([200, { ok: true, instance_id: id, delivered: true, id: expect.stringMatching(/^snd_/) }]);
    expect(posted(id)).toEqual([{ id: body['id'], target: 'b1', kind: 'text', text: 'hello' }]);
  });

  test('passes the turn that it replies to on to the connector, and validates it', async () => {
    const { id } = await create();
    const about = { turn_id: 'turn_1', message_id: 'm1' };
    await send({ instance_id: id, target: 'b1', text: 'hello', about });
    expect(posted(id)).toMatchObject([{ text: 'hello', about }]);
    for (const wrong of [{}, { turn_id: '' }, { turn_id: 'a\nb' }, { turn_id: 't', more: 1 }, { turn_id: 't', message_id: 1 }])
      expect((await send({ instance_id: id, target: 'b1', text: 'hello', about: wrong })).status).toBe(400);
  });

  test('emits an event with the outcome of each send, secrets masked, except for sends of the outbox of the core', async () => {
    const { id } = await create({}, { token_secret: 'POSTBOX' });
    bench.manager.telemetry.events.length = 0;
    const events = () => bench.manager.telemetry.events.filter(({ kind }) => kind === 'delivery');
    const { body } = await send({ instance_id: id, target: 'b1', text: 'hello' });
    await send({ instance_id: id, target: 'b1', text: 'it is bot-token-of-the-postbox' }, { 'idempotency-key': 'k1' });
    await send({ instance_id: id, target: 'nowhere', text: 'lost' });
    await send({ instance_id: id, target: 'b1', text: 'own' }, { 'idempotency-key': 'k2', 'idempotency-text': 'may-change' });
    // Answered from what is known: nothing was sent.
    await send({ instance_id: id, target: 'b1', text: 'it is bot-token-of-the-postbox' }, { 'idempotency-key': 'k1' });
    const about = { surface: 'postbox', instance_id: id, session: null };
    expect(events()).toMatchObject([
      { ...about, text: 'hello', payload: { what: 'delivered', delivery_id: body['id'], target: 'b1', kind: 'text' } },
      { ...about, payload: { what: 'delivered' } },
      { ...about, text: 'lost', payload: { what: 'failed', target: 'nowhere', error: 'There is no box "nowhere".' } },
    ]);
    expect(JSON.stringify(events())).not.toContain('bot-token-of');
  });

  test('takes a type or a name that one running instance answers to for a channel', async () => {
    const { id } = await create();
    await create({ name: 'Box', enabled: false });
    for (const channel of ['postbox', 'Box'])
      expect((await send({ channel, target: 'b1', text: 'hello' })).body).toMatchObject({ delivered: true, instance_id: id });
  });

  test('[X01] lists the instances when the channel is ambiguous', async () => {
    const [first, second] = [await create(), await create({ name: 'Other' })];
    const { status, body } = await send({ channel: 'postbox', target: 'b1', text: 'hello' });
    expect(status).toBe(409);
    expect(body).toMatchObject({ error: 'conflict', instances: [first.id, second.id] });
    expect(body['message']).toContain(`"${second.id}" (Other)`);
    expect((await send({ channel: 'Other', target: 'b1', text: 'hello' })).body).toMatchObject({ instance_id: second.id });
  });

  test('also reaches a connector that serves /out on another port', async () => {
    const { id } = await create({}, { own_server: true });
    expect((await send({ instance_id: id, target: 'b1', text: 'hello' })).status).toBe(200);
    expect(posted(id)).toHaveLength(1);
  });

  test('retries after the pause that the platform asks for', async () => {
    const { id } = await create();
    expect((await send({ instance_id: id, target: 'busy-once', text: 'x' })).body).toMatchObject({ delivered: true });
  });

  test('waits for an instance that is restarting', async () => {
    const { id, pid } = await create();
    signalProcess(pid, 'SIGKILL');
    await eventually(list, (instances) => instances[0]?.pid !== pid);
    expect((await send({ instance_id: id, target: 'b1', text: 'x' })).status).toBe(200);
  });

  test('[X07] times out when the channel hangs, without delaying other instances', async () => {
    const [stuck, other] = [await create(), await create({ name: 'Other' })];
    const from = Date.now();
    let isAnswered = false;
    const hanging = send({ instance_id: stuck.id, target: 'stuck', text: 'x' }).finally(() => (isAnswered = true));
    expect((await send({ instance_id: other.id, target: 'b1', text: 'x' })).status).toBe(200);
    expect(isAnswered).toBe(false);
    const { status, body } = await hanging;
    expect([status, body['delivered']]).toEqual([504, false]);
    expect(Date.now() - from).toBeLessThan(30_000);
  });
});

describe('POST /send says truthfully that it was not delivered', () => {
  const shared = bench.share();
  test.each([
    ['a platform that wants a longer pause than there is time', 'busy', 429, 'busy', 'wants a pause'],
    ['a target that the channel refuses for good', 'nowhere', 422, 'unprocessable', 'There is no box'],
    ['a fault of the platform', 'broken', 502, 'upstream', 'failed'],
  ])('%s', async (_, target, status, error, message) => {
    const { id } = shared();
    const reply = await send({ instance_id: id, target, text: 'x' });
    expect(reply).toMatchObject({ status, body: { ok: false, error, delivered: false, instance_id: id } });
    expect(reply.body['message']).toContain(message);
    expect(posted(id)).toEqual([]);
    if (status === 429) expect(reply.body['retry_after_s']).toBe(60);
  });
});

describe('[X01] [X08] what cannot be sent', () => {
  test.each([
    ['an instance that is not there', { instance_id: 'nobody' }, 404],
    ['a path for an id', { instance_id: '../postbox' }, 404],
    ['a name of the language', { instance_id: '__proto__' }, 404],
    ['an address', { instance_id: 'http://127.0.0.1:3023' }, 404],
    ['a channel that is not there', { channel: 'nothing' }, 404],
    ['a type that only answers', { channel: 'single' }, 409, 'only_answers'],
    ['an instance of such a type', { instance_id: 'single' }, 409, 'only_answers'],
    ['an instance that is stopped', { instance_id: 'postbox' }, 409],
    ['the only one of a channel, which is stopped', { channel: 'postbox' }, 409],
    ['an instance and a channel that differ', { instance_id: 'postbox', channel: 'single' }, 400],
    ['neither an instance nor a channel', {}, 400],
  ])('%s', async (_, place, status, reason?: string) => {
    const open = await openManager();
    try {
      await open.call('POST', '/instances', { type: 'single', name: 'Single', enabled: true });
      await open.call('POST', '/instances', { type: 'postbox', name: 'Box' });
      const sent = await open.call('POST', '/send', { ...place, target: 'b', text: 'x' });
      expect([sent.status, sent.body['reason']]).toEqual([status, reason]);
    } finally {
      await open.close();
    }
  });

  test('say how to start a stopped instance, and why a failed one has failed', async () => {
    const { id } = await create({ enabled: false });
    expect((await send({ instance_id: id, target: 'b', text: 'x' })).body['message']).toContain(`POST /instances/${id}/start`);
    const failing = await create({ name: 'Failing', type: 'sample', config: { room: 'r' } });
    await eventually(list, (instances) => instances.find((each) => each.id === failing.id)?.status === 'failed');
    const { status, body } = await send({ instance_id: failing.id, target: 'b', text: 'x' });
    expect(status).toBe(409);
    expect(body['message']).toContain('does not load its type');
  });

  test('a connector whose type declares outbound messages that its code does not implement', async () => {
    const { id } = await create({}, { silent: true });
    expect(await send({ instance_id: id, target: 'b', text: 'x' })).toMatchObject({ status: 409, body: { delivered: false } });
  });
});

describe('[X01] [X08] what cannot be sent', () => {
  const shared = bench.share();
  test.each([
    ['no target', { text: 'x' }, ['body.target']],
    ['a blank text', { target: 'b', text: ' ' }, ['body.text']],
    ['a kind of another channel', { target: 'b', text: 'x', kind: 'speak' }, ['body.kind']],
    ['a line break in the target', { target: 'b\r\nBcc: c', text: 'x' }, ['body.target']],
    ['a caption without a file, and no target', { text: 'x', caption: 'c' }, ['body.target', 'body.caption']],
    ['an unknown field', { target: 'b', text: 'x', tekst: 'y' }, ['body.tekst']],
  ])('[X04] %s, with every bad field named', async (_, message, fields) => {
    const { id } = shared();
    const { status, body } = await send({ instance_id: id, ...message });
    expect(status).toBe(400);
    expect((body['fields'] as { field: string }[]).map(({ field }) => field)).toEqual(fields);
  });
});

describe('GET /send/targets', () => {
  test('lists every instance with the kinds of message that it can send', async () => {
    const { id } = await create({ enabled: false });
    await bench.manager.call('POST', '/instances', { type: 'single', name: 'Single' });
    expect((await bench.manager.call('GET', '/send/targets')).body).toEqual({
      targets: [
        {
          instance_id: id,
          channel: 'postbox',
          name: 'Box',
          enabled: false,
          outbound: { kinds: ['text', 'photo', 'document'], target: { required: true, label: 'Box' } },
        },
        { instance_id: 'single', channel: 'single', name: 'Single', enabled: false, outbound: false },
      ],
    });
  });
});
