import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { from, fromOwner, openToolbeltBench, planted, tokenOf } from './open-toolbelt-bench.ts';

const bench = openToolbeltBench();
const { call, direct, inTurn, sent } = bench;

describe('svc_send', () => {
  test('sends a masked text to the named place, over the outbox', async () => {
    const input = { instance_id: 'm2', target: 'room', text: `the key is ${planted}` };
    const answer = await call(fromOwner(), 'svc_send', input);
    expect(answer.result).toMatchObject({ delivered: true, instance_id: 'm2', target: 'room' });
    expect(sent).toMatchObject([{ instance_id: 'm2', target: 'room', text: 'the key is [redacted:secret]' }]);
    const list = (await bench.core.app.inject('/v2/deliveries')).json<{ deliveries: { id: string; state: string }[] }>();
    expect(list.deliveries[0]).toMatchObject({ id: answer.result['delivery_id'], state: 'delivered' });
  });

  test('accepts the kinds of a device, and "inject" from an owner only', async () => {
    const speak = { instance_id: 'd1', target: 'phone', text: 'Dinner.', kind: 'speak' };
    expect((await call(from('trusted'), 'svc_send', speak)).result).toMatchObject({ delivered: true });
    expect((await call(from('worker'), 'svc_send', { text: 'hi', kind: 'speak' })).ok).toBe(true);
    expect(sent).toMatchObject([
      { instance_id: 'd1', target: 'phone', text: 'Dinner.', kind: 'speak' },
      { target: 'chat-worker', kind: 'speak' },
    ]);
    const inject = { ...speak, kind: 'inject' };
    for (const who of [from('trusted'), from('worker'), fromOwner({ public: true })])
      expect(await call(who, 'svc_send', inject)).toMatchObject({
        ok: false,
        text: expect.stringContaining('"inject"') as string,
      });
    expect((await call(fromOwner(), 'svc_send', inject)).result).toMatchObject({ delivered: true });
    expect(sent.at(-1)).toMatchObject({ kind: 'inject' });
    expect(JSON.stringify((await bench.core.app.inject('/v2/deliveries')).json())).not.toContain('"kind"');
  });

  test('allows only owners to send to a place that executes text, and no one else while that is unknown', async () => {
    const terminal = { channel: 'terminal', name: 'Terminals', enabled: true };
    const outbound = { kinds: ['text'], target: { required: true, label: 'Terminal' }, steers: true };
    bench.manager.answers.set('/send/targets', { targets: [{ ...terminal, instance_id: 't1', outbound }] });
    const words = { target: 'main', text: 'rm -rf ~' };
    for (const place of [{ instance_id: 't1' }, { channel: 'terminal' }])
      expect(await call(from('trusted'), 'svc_send', { ...place, ...words })).toMatchObject({
        ok: false,
        text: expect.stringContaining('"t1" is not allowed') as string,
      });
    bench.manager.answers.delete('/send/targets');
    expect(await call(from('trusted'), 'svc_send', { instance_id: 't1', ...words })).toMatchObject({
      ok: false,
      text: expect.stringContaining('is unavailable') as string,
    });
    expect(sent).toEqual([]);
    expect((await call(fromOwner(), 'svc_send', { instance_id: 't1', ...words })).result).toMatchObject({ delivered: true });
  });

  test('finds the instance of a channel when there is exactly one', async () => {
    const target = (instance_id: string, channel: string, enabled = true) => ({
      instance_id,
      channel,
      name: channel,
      enabled,
      outbound: {},
    });
    bench.manager.answers.set('/send/targets', {
      targets: [target('d1', 'chatroom'), target('m1', 'messenger'), target('m2', 'messenger', false)],
    });
    expect((await call(fromOwner(), 'svc_send', { channel: 'messenger', target: 'x', text: 'hi' })).result).toMatchObject({
      instance_id: 'm1',
    });
    bench.manager.answers.set('/send/targets', { targets: [target('m1', 'messenger'), target('m2', 'messenger')] });
    const unclear = await call(fromOwner(), 'svc_send', { channel: 'messenger', target: 'x', text: 'hi' });
    expect(unclear).toMatchObject({ ok: false, text: expect.stringMatching(/More than one.*m1.*m2/) as string });
    expect(bench.manager.requests[0]?.authorization).toBe('Bearer manager-token-of-the-test');
  });

  test('sends to the current conversation by default', async () => {
    expect((await call(from('worker'), 'svc_send', { text: 'hi' })).ok).toBe(true);
    expect(sent).toMatchObject([{ instance_id: 'm1', target: 'chat-worker', text: 'hi' }]);
    expect(await call(fromOwner(), 'svc_send', { text: 'hi' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('cannot be pushed to') as string,
    });
  });

  test.each([
    ['worker', {}, { target: 'chat-worker' }, true],
    ['worker', {}, { channel: 'messenger', target: 'chat-worker' }, true],
    ['worker', {}, { instance_id: 'm1', target: 'chat-worker' }, true],
    ['worker', {}, { instance_id: 'm1', target: 'chat-other' }, false],
    ['worker', {}, { instance_id: 'm2', target: 'chat-worker' }, false],
    ['worker', {}, { channel: 'chatroom', target: 'chat-worker' }, false],
    ['worker', {}, { instance_id: 'm1' }, false],
    ['trusted', {}, { instance_id: 'm1', target: 'chat-other' }, true],
    ['trusted', { public: true }, { instance_id: 'm1', target: 'chat-other' }, false],
    ['trusted', { public: true }, { target: 'chat-trusted' }, true],
  ])('%s %j may send to %j: %s', async (who, over, place, allowed) => {
    const answer = await call(from(who, over), 'svc_send', { text: 'hi', ...place });
    expect([answer.ok, sent.length]).toEqual([allowed, allowed ? 1 : 0]);
  });

  test('masks a text that goes to a public place as strictly as a reply there', async () => {
    const text = 'Ask ann@kern-family.de on 192.168.1.20.';
    expect((await call(from('trusted', { public: true }), 'svc_send', { text })).result).toMatchObject({ delivered: true });
    expect((await call(from('trusted'), 'svc_send', { text })).result).toMatchObject({ delivered: true });
    expect(sent.map((message) => message.text)).toEqual(['Ask [redacted:email] on [redacted:ip].', text]);
  });

  test('[P13] sends only uploaded files without secrets, and only for trusted people', async () => {
    const { uploads, root } = bench.core.context.paths;
    mkdirSync(path.join(uploads, '.staging'), { recursive: true });
    const file = (name: string, text: string) => {
      writeFileSync(path.join(uploads, name), text);
      return path.join(uploads, name);
    };
    const [good, leak, list, hidden] = [
      file('a.txt', 'fine'),
      file('leak.txt', `x${planted}`),
      file('manifest.jsonl', ''),
      file('.staging/x', ''),
    ];
    const keys = path.join(root, 'keys.json');
    writeFileSync(keys, '{}');
    symlinkSync(keys, path.join(uploads, 'link'));
    bench.manager.answers.set('/send', { ok: true, delivered: true, id: 'x', instance_id: 'm1' });
    const place = { instance_id: 'm1', target: 'x' };
    const wrong = [
      keys,
      leak,
      list,
      hidden,
      uploads,
      path.join(uploads, 'link'),
      path.join(uploads, '../keys.json'),
      'a.txt',
      '/etc/passwd',
    ];
    for (const name of wrong)
      expect([name, (await call(fromOwner(), 'svc_send', { ...place, path: name })).ok]).toEqual([name, false]);
    expect((await call(from('worker'), 'svc_send', { target: 'chat-worker', path: good })).ok).toBe(false);
    expect(bench.manager.requests).toEqual([]);
    const answer = await call(fromOwner(), 'svc_send', { ...place, path: good, caption: `see ${planted}` });
    expect(answer.result).toMatchObject({ delivered: true });
    expect(bench.manager.requests[0]).toMatchObject({
      url: '/send',
      body: { ...place, path: good, caption: 'see [redacted:secret]' },
    });
  });

  test('limits a turn to 30 calls that send', async () => {
    const answers = await inTurn(fromOwner(), async (request) => {
      const tries = Array.from({ length: 31 }, () => direct(tokenOf(request), 'svc_announce', { text: 'again' }));
      return (await Promise.all(tries)).map(({ status }) => status);
    });
    expect(answers.filter((status) => status === 200)).toHaveLength(30);
    expect(answers).toContain(429);
  });
});

describe('svc_announce', () => {
  const posted = () => bench.core.context.announcements.list().at(-1);

  test.each<[string, Partial<Envelope>, object, string | null]>([
    ['trusted', {}, {}, '*'],
    ['trusted', {}, { target: 'surface:compat' }, 'surface:compat'],
    ['trusted', { public: true }, {}, 'messenger:m1:user:trusted'],
    ['trusted', { public: true }, { target: '*' }, null],
    ['worker', {}, {}, 'messenger:m1:user:worker'],
    ['worker', {}, { target: 'messenger:m1:user:worker' }, 'messenger:m1:user:worker'],
    ['worker', {}, { target: '*' }, null],
    ['worker', {}, { target: 'identity:owner' }, null],
    ['trusted', {}, { target: 'surface:NO WAY' }, null],
  ])('%s %j with %j announces to %s', async (who, over, input, target) => {
    const before = bench.core.context.announcements.newestId();
    const answer = await call(from(who, over), 'svc_announce', { text: 'build is red', ttl: 60, ...input });
    expect(answer.ok).toBe(target !== null);
    if (target === null) expect(bench.core.context.announcements.newestId()).toBe(before);
    else expect(posted()).toMatchObject({ target, text: 'build is red', expires_at: expect.any(Number) as number });
  });

  test('records the posting session, so that it does not get its own announcement', async () => {
    await call(from('trusted'), 'svc_announce', { text: 'the branch is frozen' });
    expect(posted()?.from_session).toBe('messenger:m1:user:trusted');
  });
});

describe('svc_uploads', () => {
  test('lists the newest files, and for people who are not trusted only those of their conversation', async () => {
    const { uploads } = bench.core.context.paths;
    mkdirSync(uploads, { recursive: true });
    const line = (id: number, conversation_key: string | null) =>
      JSON.stringify({
        id: `upl_${id}`,
        path: `/u/${id}`,
        name: `${id}.png`,
        mime: 'image/png',
        kind: 'image',
        bytes: 1,
        sha256: '',
        conversation_key,
        created_at: id,
      });
    const lines = [line(1, null), line(2, 'messenger:m1:user:worker'), line(3, 'elsewhere')];
    writeFileSync(path.join(uploads, 'manifest.jsonl'), `${lines.join('\n')}\n{"torn`);
    const names = async (who: Envelope, input = {}) =>
      ((await call(who, 'svc_uploads', input)).result['files'] as { name: string }[]).map(({ name }) => name);
    expect(await names(fromOwner())).toEqual(['3.png', '2.png', '1.png']);
    expect(await names(fromOwner(), { limit: 1 })).toEqual(['3.png']);
    expect(await names(from('worker'))).toEqual(['2.png']);
  });
});
