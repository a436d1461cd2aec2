import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Instance } from '@svc/contract/instance.ts';
import type { OutboundMessage } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKitManager, openManager, type OpenManager } from './open-manager.ts';
import { postedBy } from './posted-by.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
beforeAll(async () => {
  // A name that tells nobody that its value is a secret; a config that names it does.
  process.env['POSTBOX'] = 'bot-token-of-the-postbox';
  manager = await openKitManager({ SVC_INSIGHTS_TOKEN: 'canary-insights-token' });
});
afterAll(async () => {
  delete process.env['POSTBOX'];
  await manager.close();
});
afterEach(async () => {
  for (const { id } of await list()) await manager.call('DELETE', `/instances/${id}`);
});

const list = async () => (await manager.call('GET', '/instances')).body['instances'] as Instance[];
async function create(over: object = {}, config: object = {}): Promise<Instance> {
  const body = { type: 'postbox', name: 'Box', enabled: true, config, ...over };
  return (await manager.call('POST', '/instances', body)).body['instance'] as Instance;
}
const send = (body: object, headers: Record<string, string> = {}) => manager.call('POST', '/send', body, headers);
const posted = (id: string) => postedBy(manager.dataDir, id);

describe('POST /send', () => {
  it('reaches the channel, and says through which instance and under which id', async () => {
    const { id } = await create();
    const { status, body } = await send({ instance_id: id, target: 'b1', text: 'hello' });
    expect([status, body]).toEqual([200, { ok: true, instance_id: id, delivered: true, id: expect.stringMatching(/^snd_/) }]);
    expect(posted(id)).toEqual([{ id: body['id'], target: 'b1', kind: 'text', text: 'hello' }]);
  });

  it.each(['postbox', 'Box'])(
    'takes "%s" for a channel: a type or a name that one running instance answers to',
    async (channel) => {
      const { id } = await create();
      await create({ name: 'Box', enabled: false });
      expect((await send({ channel, target: 'b1', text: 'hello' })).body).toMatchObject({ delivered: true, instance_id: id });
    },
  );

  it('[X01] lists the instances when more than one answers', async () => {
    const [first, second] = [await create(), await create({ name: 'Other' })];
    const { status, body } = await send({ channel: 'postbox', target: 'b1', text: 'hello' });
    expect(status).toBe(409);
    expect(body).toMatchObject({ error: 'conflict', instances: [first.id, second.id] });
    expect(body['message']).toContain(`"${second.id}" (Other)`);
    expect((await send({ channel: 'Other', target: 'b1', text: 'hello' })).body).toMatchObject({ instance_id: second.id });
  });

  it('reaches also a connector that serves /out on a port of its own', async () => {
    const { id } = await create({}, { own_server: true });
    expect((await send({ instance_id: id, target: 'b1', text: 'hello' })).status).toBe(200);
    expect(posted(id)).toHaveLength(1);
  });

  it('tries again after the pause that the platform asked for', async () => {
    const { id } = await create();
    expect((await send({ instance_id: id, target: 'busy-once', text: 'x' })).body).toMatchObject({ delivered: true });
  });

  it.each([
    ['a platform that wants a longer pause than there is time', 'busy', 429, 'busy', 'wants a pause'],
    ['a target that the channel refuses for good', 'nowhere', 422, 'unprocessable', 'There is no box'],
    ['a fault of the platform', 'broken', 502, 'upstream', 'failed'],
  ])('says truthfully that it was not delivered: %s', async (_, target, status, error, message) => {
    const { id } = await create();
    const reply = await send({ instance_id: id, target, text: 'x' });
    expect(reply).toMatchObject({ status, body: { ok: false, error, delivered: false, instance_id: id } });
    expect(reply.body['message']).toContain(message);
    expect(posted(id)).toEqual([]);
    if (status === 429) expect(reply.body['retry_after_s']).toBe(60);
  });

  it('waits for an instance that is just being started again', async () => {
    const { id, pid } = await create();
    process.kill(pid!, 'SIGKILL');
    await eventually(list, (instances) => instances[0]?.pid !== pid);
    expect((await send({ instance_id: id, target: 'b1', text: 'x' })).status).toBe(200);
  });

  it('[X07] that hangs on the channel is answered in bounded time, and holds up nobody else', async () => {
    const [stuck, other] = [await create(), await create({ name: 'Other' })];
    const from = Date.now();
    const hanging = send({ instance_id: stuck.id, target: 'stuck', text: 'x' });
    expect((await send({ instance_id: other.id, target: 'b1', text: 'x' })).status).toBe(200);
    expect(Date.now() - from).toBeLessThan(5_000);
    const { status, body } = await hanging;
    expect([status, body['delivered']]).toEqual([504, false]);
    expect(Date.now() - from).toBeLessThan(10_000);
  });
});

describe('[X01] [X08] what cannot be sent', () => {
  it.each([
    ['an instance that is not there', { instance_id: 'nobody' }, 404],
    ['a path for an id', { instance_id: '../postbox' }, 404],
    ['a name of the language', { instance_id: '__proto__' }, 404],
    ['an address', { instance_id: 'http://127.0.0.1:3023' }, 404],
    ['a channel that is not there', { channel: 'nothing' }, 404],
    ['a type that only answers', { channel: 'single' }, 409],
    ['an instance of such a type', { instance_id: 'single' }, 409],
    ['an instance that is stopped', { instance_id: 'postbox' }, 409],
    ['the only one of a channel, which is stopped', { channel: 'postbox' }, 409],
    ['an instance and a channel that differ', { instance_id: 'postbox', channel: 'single' }, 400],
    ['neither an instance nor a channel', {}, 400],
  ])('%s', async (_, place, status) => {
    const open = await openManager();
    try {
      await open.call('POST', '/instances', { type: 'single', name: 'Single', enabled: true });
      await open.call('POST', '/instances', { type: 'postbox', name: 'Box' });
      expect((await open.call('POST', '/send', { ...place, target: 'b', text: 'x' })).status).toBe(status);
    } finally {
      await open.close();
    }
  });

  it('says how to start what is stopped, and why something has failed', async () => {
    const { id } = await create({ enabled: false });
    expect((await send({ instance_id: id, target: 'b', text: 'x' })).body['message']).toContain(`POST /instances/${id}/start`);
    const failing = await create({ name: 'Failing', type: 'sample', config: { room: 'r' } });
    await eventually(list, (instances) => instances.find((each) => each.id === failing.id)?.status === 'failed');
    const { status, body } = await send({ instance_id: failing.id, target: 'b', text: 'x' });
    expect(status).toBe(409);
    expect(body['message']).toContain('does not load its type');
  });

  it('a connector whose type promises what its code does not do', async () => {
    const { id } = await create({}, { silent: true });
    expect(await send({ instance_id: id, target: 'b', text: 'x' })).toMatchObject({ status: 409, body: { delivered: false } });
  });

  it.each([
    ['no target', { text: 'x' }, ['body.target']],
    ['a blank text', { target: 'b', text: ' ' }, ['body.text']],
    ['a kind of another channel', { target: 'b', text: 'x', kind: 'speak' }, ['body.kind']],
    ['a line break in the target', { target: 'b\r\nBcc: c', text: 'x' }, ['body.target']],
    ['a caption without a file, and no target', { text: 'x', caption: 'c' }, ['body.target', 'body.caption']],
    ['a field that is none', { target: 'b', text: 'x', tekst: 'y' }, ['body.tekst']],
  ])('[X04] %s, with every bad field named', async (_, message, fields) => {
    const { id } = await create();
    const { status, body } = await send({ instance_id: id, ...message });
    expect(status).toBe(400);
    expect((body['fields'] as { field: string }[]).map(({ field }) => field)).toEqual(fields);
  });
});

describe('a file', () => {
  const uploads = () => path.join(manager.dataDir, 'uploads');
  beforeEach(() => {
    mkdirSync(path.join(uploads(), 'folder'), { recursive: true });
    writeFileSync(path.join(uploads(), 'cat.png'), 'meow');
    writeFileSync(path.join(uploads(), 'list.txt'), 'one');
    writeFileSync(path.join(uploads(), 'manifest.jsonl'), '{}');
    mkdirSync(path.join(uploads(), '.staging'), { recursive: true });
    writeFileSync(path.join(uploads(), '.staging', 'half'), 'ha');
    writeFileSync(path.join(manager.dataDir, 'secrets.json'), '{}', { mode: 0o600 });
    for (const [name, target] of [
      ['out', path.join(manager.dataDir, 'secrets.json')],
      ['away', manager.dataDir],
    ] as const) {
      try {
        symlinkSync(target, path.join(uploads(), name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  });

  it.each([
    ['cat.png', 'photo'],
    ['list.txt', 'document'],
  ])('of the upload area is sent in the way the channel has for it: %s', async (name, kind) => {
    const { id } = await create();
    const file = path.join(uploads(), name);
    expect((await send({ instance_id: id, target: 'b1', path: file, caption: 'look' })).status).toBe(200);
    expect(posted(id)).toMatchObject([{ kind, path: file, caption: 'look' }]);
  });

  it.each([
    ['elsewhere', '/etc/passwd', 403],
    ['of the service', '../secrets.json', 403],
    ['behind dots', 'folder/../../secrets.json', 403],
    ['behind a link', 'out', 403],
    ['in a folder behind a link', 'away/secrets.json', 403],
    ['that only begins alike', '../uploads-not/x', 403],
    ['that lists all uploads', 'manifest.jsonl', 403],
    ['that is not whole yet', '.staging/half', 403],
    ['elsewhere that is not there', '/nothing/at/all', 403],
    ['that is not there', 'gone.png', 400],
    ['that is a folder', 'folder', 400],
    ['with a zero byte in its name', 'cat.png\0.txt', 403],
  ])('[X02] %s is refused and reaches no connector', async (_, name, status) => {
    const { id } = await create();
    const file = name.startsWith('/') ? name : `${uploads()}/${name}`;
    const reply = await send({ instance_id: id, target: 'b1', path: file });
    expect(reply.status).toBe(status);
    expect(posted(id)).toEqual([]);
  });
});

describe('secrets', () => {
  it('[X05] of the service and of any instance are masked in what leaves', async () => {
    const { id } = await create({}, { token_secret: 'POSTBOX' });
    await send({ instance_id: id, target: 'b1', text: 'canary-insights-token and bot-token-of-the-postbox' });
    expect(posted(id)[0]?.text).not.toMatch(/canary|bot-token/);
    const { body } = await send({ instance_id: id, target: 'broken', text: 'x' });
    expect(body['message']).toContain('failed');
    expect(body['message']).not.toContain('bot-token');
  });

  it('that cannot be read let nothing leave', async () => {
    const { id } = await create();
    writeFileSync(path.join(manager.dataDir, 'secrets.json'), 'broken', { mode: 0o600 });
    const refused = () => send({ instance_id: id, target: 'b1', text: 'x' });
    const { body } = await eventually(refused, ({ status }) => status === 503);
    expect(body).toMatchObject({ delivered: false, message: expect.stringContaining('known secrets cannot be read') });
    writeFileSync(path.join(manager.dataDir, 'secrets.json'), '{}', { mode: 0o600 });
    await eventually(refused, ({ status }) => status === 200);
  });

  it('between the manager and a connector stand in no log', async () => {
    const { id } = await create();
    const { body } = await eventually(
      () => manager.call('GET', `/instances/${id}/logs`),
      (reply) => JSON.stringify(reply.body).includes('my way in'),
    );
    expect(JSON.stringify(body)).toContain('my way in is [redacted:outbound], my proof [redacted:outbound]');
  });
});

describe('a connector’s /out', () => {
  it.each([
    ['without the token', {}, 401],
    ['with a wrong one', { authorization: 'Bearer wrong' }, 401],
    ['from another site', { origin: 'https://evil.example' }, 403],
    ['under another name', { host: 'evil.example' }, 403],
  ])('[X06] is closed to everybody else: %s', async (_, headers, status) => {
    const { id, port } = await create();
    const url = `http://127.0.0.1:${port}`;
    const message: OutboundMessage = { id: 'x', target: 'b', kind: 'text', text: 'x' };
    expect((await requestJson(`${url}/out`, { body: message, headers, timeoutMs: 5000 })).status).toBe(status);
    expect((await requestJson(`${url}/channels`, { headers, timeoutMs: 5000 })).status).toBe(status);
    expect(posted(id)).toEqual([]);
  });
});

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'key-1' };
  type Part = { text?: string; path?: string; caption?: string };
  it('has a repeat answered with the first answer, without sending twice', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'b1', text: 'x' };
    const first = await send(message, key);
    await manager.call('POST', `/instances/${id}/stop`);
    expect(await send(message, key)).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  it.each<[string, Part, Part]>([
    ['text', { text: 'x' }, { text: 'y' }],
    ['caption', { path: 'cat.png', caption: 'x' }, { path: 'cat.png', caption: 'y' }],
    ['file', { path: 'cat.png' }, { path: 'dog.png' }],
  ])('is refused for another %s to the same target, in turn and at once', async (_, one, other) => {
    mkdirSync(path.join(manager.dataDir, 'uploads'), { recursive: true });
    for (const name of ['cat.png', 'dog.png']) writeFileSync(path.join(manager.dataDir, 'uploads', name), 'x');
    const { id } = await create();
    const messageOf = (part: Part) => ({
      instance_id: id,
      target: 'slow',
      ...part,
      ...(part.path !== undefined && { path: path.join(manager.dataDir, 'uploads', part.path) }),
    });
    const [first, atOnce] = await Promise.all([send(messageOf(one), key), send(messageOf(other), key)]);
    const inTurn = await send(messageOf(other), key);
    expect([first.status, atOnce.status, inTurn.status]).toEqual([200, 422, 422]);
    expect(posted(id)).toHaveLength(1);
  });

  it('covers a text that may change, for a sender that masks it anew at each try', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'slow', text: 'x' };
    const changing = { ...key, 'idempotency-text': 'may-change' };
    const masked = { ...message, text: 'masked otherwise by now' };
    const [first, atOnce] = await Promise.all([send(message, changing), send(masked, changing)]);
    expect([first.status, atOnce, await send(masked, changing)]).toEqual([200, first, first]);
    expect((await send({ ...masked, target: 'b2' }, changing)).status).toBe(422);
    expect((await send(message, { ...key, 'idempotency-text': 'yes' })).status).toBe(400);
    expect(posted(id)).toHaveLength(1);
  });

  it('of a message that an earlier version recorded covers any text to its target', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'b1', text: 'x' };
    const first = await send(message, key);
    const db = new DatabaseSync(path.join(manager.dataDir, 'manager.db'));
    db.exec('UPDATE sent_message SET digest = NULL');
    db.close();
    expect(await send({ ...message, text: 'y' }, key)).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  it('has two at once sent as one', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'slow', text: 'x' };
    const [first, second] = await Promise.all([send(message, key), send(message, key)]);
    expect(second).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  it('keeps a refusal for good, and tries again what may pass', async () => {
    const { id } = await create();
    const refused = { instance_id: id, target: 'nowhere', text: 'x' };
    const first = await send(refused, key);
    expect(first.status).toBe(422);
    expect((await send(refused, key)).body['id']).toBe(first.body['id']);
    const busy = { instance_id: id, target: 'busy', text: 'x' };
    const ids = [await send(busy, { 'idempotency-key': 'key-2' }), await send(busy, { 'idempotency-key': 'key-2' })];
    expect(ids[1]?.body['id']).toBe(ids[0]?.body['id']);
  });

  it('is refused for a message to another place, and when it is none', async () => {
    const { id } = await create();
    await send({ instance_id: id, target: 'b1', text: 'x' }, key);
    expect((await send({ instance_id: id, target: 'b2', text: 'x' }, key)).status).toBe(422);
    expect((await send({ instance_id: id, target: 'b1', text: 'x' }, { 'idempotency-key': ' ' })).status).toBe(400);
    expect(posted(id)).toHaveLength(1);
  });

  it('has a message sent once also when the connector dies after its platform took it', async () => {
    const { id } = await create();
    const reply = await send({ instance_id: id, target: 'fatal', text: 'x' }, key);
    expect(reply).toMatchObject({ status: 200, body: { delivered: true } });
    expect(posted(id)).toHaveLength(1);
  });
});

describe('GET /send/targets', () => {
  it('lists every instance with what can be sent through it', async () => {
    const { id } = await create({ enabled: false });
    await manager.call('POST', '/instances', { type: 'single', name: 'Single' });
    expect((await manager.call('GET', '/send/targets')).body).toEqual({
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

describe('/instances/:id/channels', () => {
  it('lists the channels of the connector, and toggles one without a restart and for good', async () => {
    const { id, pid } = await create();
    const channels = async () => (await manager.call('GET', `/instances/${id}/channels`)).body['channels'];
    expect(await channels()).toMatchObject([
      { id: 'lobby', enabled: true },
      { id: 'attic', enabled: true },
    ]);
    const toggled = await manager.call('POST', `/instances/${id}/channels`, { channel_id: 'attic', enabled: false });
    expect(toggled).toEqual({ status: 200, body: { ok: true, channel: { id: 'attic', name: 'The attic', enabled: false } } });
    expect((await list())[0]?.pid).toBe(pid);
    await manager.call('POST', `/instances/${id}/restart`);
    expect(await channels()).toMatchObject([
      { id: 'lobby', enabled: true },
      { id: 'attic', enabled: false },
    ]);
  });

  it.each([
    ['of a room that is not there', { channel_id: 'cellar', enabled: true }, 404],
    ['that is none', { channel_id: 'attic' }, 400],
  ])('refuses a toggle %s', async (_, body, status) => {
    const { id } = await create();
    expect((await manager.call('POST', `/instances/${id}/channels`, body)).status).toBe(status);
  });

  it('is 404 for an unknown instance, 409 for one that does not run or has no channels', async () => {
    const { id } = await create({ enabled: false });
    const { id: silent } = await create({ name: 'Silent' }, { silent: true });
    const statusOf = async (instance: string) => (await manager.call('GET', `/instances/${instance}/channels`)).status;
    expect([await statusOf('nobody'), await statusOf(id), await statusOf(silent)]).toEqual([404, 409, 409]);
  });
});

it('shows what each process holds and uses', async () => {
  const { id } = await create();
  const { usage } = await eventually(
    async () => (await manager.call('GET', `/instances/${id}`)).body['instance'] as Instance,
    (instance) => instance.usage !== null,
  );
  expect(usage?.memory_bytes).toBeGreaterThan(10_000_000);
  expect(readFileSync(path.join(manager.dataDir, 'instances', id, 'sent-ids'), 'utf8')).toBe('');
});
