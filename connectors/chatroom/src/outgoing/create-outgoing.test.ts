import { describe, expect, test } from 'vitest';
import { createPostNote } from '../voice/post-note.ts';
import { begin, envelopeOf, fails, general, limited, lost, refusal, resultOf, setUpOutgoing } from './testing/fake-rest.ts';

const words = 'A **reply** that is long enough to be shown.';
const signal = AbortSignal.timeout(600_000);
const push = (target: string, fields: object) => ({ id: 'd1', target, kind: 'text', ...fields });
const quiet = { allowed_mentions: { parse: [], replied_user: false } };
const mib = 1024 * 1024;

describe('reply', () => {
  test('mentions no one, disables embeds, references the message, and has a nonce', async () => {
    const out = await setUpOutgoing();
    await out.within(begin(out, general, '1000000000000000010').finish(resultOf(`@everyone ${words}`)));
    expect(out.calls).toMatchObject([{ what: 'post', route: `/channels/${general}/messages` }]);
    expect(out.calls[0]?.body).toEqual({
      ...quiet,
      content: `@everyone ${words}`,
      flags: 4,
      nonce: expect.stringMatching(/^[\w-]{24}$/),
      enforce_nonce: true,
      message_reference: { message_id: '1000000000000000010', fail_if_not_exists: false },
    });
  });

  test('in a private channel references the message only if there are newer ones', async () => {
    const out = await setUpOutgoing({ isPrivate: () => true });
    out.saw(general, '1000000000000000012');
    await out.within(begin(out, general, '1000000000000000011').finish(resultOf('One.')));
    await out.within(begin(out, general, '1000000000000000999').finish(resultOf('Two.')));
    expect(out.named('post').map(({ body }) => body['message_reference']?.message_id)).toEqual([
      '1000000000000000011',
      undefined,
    ]);
  });

  test('is posted without a reference where the bot may not read the history', async () => {
    const out = await setUpOutgoing();
    out.next['post'] = [refusal(400, 160_002, 'Cannot reply without permission to read message history')];
    await out.within(begin(out, general, '1000000000000000010').finish(resultOf('One.')));
    const [, shown, ...more] = out.named('post').map(({ body }) => body);
    expect([shown, more]).toEqual([expect.not.objectContaining({ message_reference: expect.anything() }), []]);
    expect(shown).toMatchObject({ content: 'One.' });
  });

  test('is edited every 1.5 s, without mentions or buttons', async () => {
    const out = await setUpOutgoing();
    const { handlers, finish } = begin(out, general);
    handlers.onDelta?.(words);
    for (let n = 0; n < 100; n++) {
      await out.pass(100);
      handlers.onDelta?.(` ${n}`);
    }
    const edits = out.named('edit');
    expect(edits.length).toBeGreaterThan(4);
    for (const [index, { at }] of edits.entries()) if (index > 0) expect(at - edits[index - 1]!.at).toBeGreaterThanOrEqual(1500);
    await out.within(finish(resultOf('Whole.')));
    expect(out.named('edit').at(-1)?.body).toEqual({ ...quiet, content: 'Whole.', components: [] });
    expect(out.named('post')).toHaveLength(1);
  });

  test('shows typing every 8 s, without delaying the reply', async () => {
    const out = await setUpOutgoing();
    const { finish } = begin(out, general);
    await out.pass(18_000);
    expect(out.named('typing').map(({ at }) => Math.round(at / 1000))).toEqual([1, 9, 17]);
    const before = out.clock.elapsed();
    await out.within(finish(resultOf('One.')));
    expect(out.named('post')[0]!.at - before).toBeLessThan(200);
  });

  test('waits as long as Discord asks, per channel', async () => {
    const out = await setUpOutgoing();
    out.next['post'] = [limited(50, { retryAfter: 30_000 })];
    await out.within(begin(out, general).finish(resultOf('One.')));
    const [first, second] = out.named('post');
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(30_000);
  });

  test('waits in all channels after a global rate limit', async () => {
    const out = await setUpOutgoing();
    out.next['post'] = [limited(20_000, { global: true })];
    const other = '1000000000000000002';
    await out.within(
      Promise.all([
        begin(out, general).finish(resultOf('One.')),
        out.pass(100).then(() => begin(out, other).finish(resultOf('Two.'))),
      ]),
    );
    for (const { at } of out.named('post').slice(1)) expect(at).toBeGreaterThanOrEqual(20_000);
  });

  test('is posted again under another nonce when a person deleted its message', async () => {
    const out = await setUpOutgoing();
    out.next['edit'] = [refusal(404, 10_008, 'Unknown Message')];
    const { handlers, finish } = begin(out, general);
    handlers.onDelta?.(words);
    await out.pass(1200);
    await out.within(finish(resultOf('Whole.')));
    expect(out.contents('post')).toEqual([words, 'Whole.']);
    expect(new Set(out.named('post').map(({ body }) => body['nonce'])).size).toBe(2);
  });

  test('is deleted when it is retracted', async () => {
    const out = await setUpOutgoing();
    const { handlers, finish } = begin(out, general);
    handlers.onDelta?.(words);
    await out.pass(2000);
    handlers.onRetract?.();
    await out.within(finish(resultOf('')));
    expect(out.calls.map(({ what }) => what)).toEqual(
      ['typing', 'post', 'remove'].slice(out.named('typing').length === 0 ? 1 : 0),
    );
  });

  test.each([
    [403, 50_013, 'Give its role "Send Messages"'],
    [403, 50_001, 'Give its role "View Channel"'],
    [403, 50_007, 'share a server with it'],
    [404, 10_003, 'has no such channel'],
    [400, 50_035, 'Discord refused it: Invalid Form Body'],
    [401, 0, 'Set a new one'],
  ])('fails at once when rejected with %i %i, and says what to do', async (status, code, help) => {
    const out = await setUpOutgoing();
    out.answers['post'] = refusal(status, code, 'Invalid Form Body');
    await expect(out.within(begin(out, general).finish(resultOf('One.')))).rejects.toThrow(help);
    expect(out.named('post')).toHaveLength(1);
  });

  test('attaches long code as a file', async () => {
    const out = await setUpOutgoing();
    await out.within(begin(out, general).finish(resultOf(`Look:\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(200)}\`\`\`\n\nDone.`)));
    expect(out.named('post').map(({ body, files }) => [body['content'], files])).toEqual([
      ['Look:\n\n📎 code-1.ts\n\nDone.', []],
      [undefined, ['code-1.ts']],
    ]);
  });

  test('in several messages starts at once and continues at a limited rate', async () => {
    const out = await setUpOutgoing();
    await out.within(begin(out, general).finish(resultOf('many words '.repeat(1500))));
    const at = out.named('post').map((call) => call.at);
    expect(at.length).toBe(10);
    expect(at[3]! - at[0]!).toBeLessThan(1000);
    expect(at[8]! - at[4]!).toBeGreaterThanOrEqual(3000);
    expect(out.named('post').filter(({ body }) => 'message_reference' in body)).toHaveLength(1);
  });
});

describe('post without a response', () => {
  const own = (id: string, fields: object = {}) => ({ id, type: 19, author: { id: '9' }, attachments: [], ...fields });
  const question = '1000000000000000010';

  test('is found among the messages after the one it answers, and not repeated', async () => {
    for (const fault of [lost, fails(502)]) {
      const out = await setUpOutgoing();
      out.next['post'] = [fault];
      out.answers['read'] = () => [
        own('1000000000000000016', { message_reference: { message_id: question } }),
        own('1000000000000000015', { message_reference: { message_id: '1000000000000000009' } }),
        own('1000000000000000014', { attachments: [{}] }),
        own('1000000000000000013', { interaction_metadata: {} }),
        own('1000000000000000012', { type: 6 }),
        own('1000000000000000011', { author: { id: '8' } }),
      ];
      await out.within(begin(out, general, question).finish(resultOf('One.')));
      expect([out.named('read').length, out.contents('post')]).toEqual([1, ['One.']]);
    }
  });

  test('is repeated with the same nonce if not found, and another reply is not taken for it', async () => {
    const out = await setUpOutgoing();
    await out.within(begin(out, general, question).finish(resultOf('One.')));
    const known = String(1_000_000_000_000_000_101n);
    out.answers['read'] = () => [own(known)];
    out.next['post'] = [lost];
    await out.within(begin(out, general, '1000000000000000020').finish(resultOf('Two.')));
    expect(out.contents('post')).toEqual(['One.', 'Two.', 'Two.']);
    const [, second, third] = out.named('post');
    expect(third?.body['nonce']).toBe(second?.body['nonce']);
  });

  test('is not confused with a note of the bot between the parts of a reply', async () => {
    const out = await setUpOutgoing();
    const note = '1000000000000000777';
    const rest = { post: async () => ({ id: note }) } as never;
    const postNote = createPostNote({ rest, clock: out.clock, signal, posted: out.posted });
    const parts = ['One. '.repeat(300), 'Two. '.repeat(300)].map((part) => part.trim());
    out.answers['read'] = () => [own(note, { type: 0 })];
    out.next['post'] = [() => ({ id: '1000000000000000700' }), lost];
    await postNote(general, '🎙 **Ann:** hello');
    await out.within(begin(out, general, question).finish(resultOf(parts.join('\n\n'))));
    expect(out.contents('post')).toEqual([parts[0], parts[1], parts[1]]);
  });

  test('is found by the next process, which completes it', async () => {
    const first = await setUpOutgoing();
    first.answers['post'] = () => new Promise(() => undefined);
    begin(first, general, question).handlers.onDelta?.(words);
    await first.pass(2000);
    const next = await setUpOutgoing({ state: first.state });
    next.answers['read'] = () => [own('1000000000000000016', { message_reference: { message_id: question } })];
    const reply = next.openReply(envelopeOf(general, question), { turnId: 't1', again: true });
    await next.within(reply.finish(resultOf('Whole.')));
    expect([next.named('post'), next.named('edit')]).toMatchObject([
      [],
      [{ route: `/channels/${general}/messages/1000000000000000016`, body: { content: 'Whole.' } }],
    ]);
  });

  test('is repeated where the history cannot be read', async () => {
    const out = await setUpOutgoing();
    out.answers['read'] = refusal(403, 50_001);
    out.next['post'] = [lost];
    await out.within(begin(out, general, question).finish(resultOf('One.')));
    expect(out.contents('post')).toEqual(['One.', 'One.']);
  });
});

describe('push', () => {
  test('goes to a channel or to a person, and opens the private channel of a person once', async () => {
    const out = await setUpOutgoing();
    await out.within(out.send(push(general, { text: 'One.' }), signal));
    for (const id of ['d2', 'd3']) await out.within(out.send({ ...push('user:2000000000000000001', { text: id }), id }, signal));
    expect(out.named('open').map(({ body }) => body)).toEqual([{ recipient_id: '2000000000000000001' }]);
    expect(out.named('post').map(({ route }) => route)).toEqual([
      `/channels/${general}/messages`,
      '/channels/2000000000000000002/messages',
      '/channels/2000000000000000002/messages',
    ]);
  });

  test.each(['', 'general', '12', `${general}/pins`, '../users/@me', 'user:', 'user:@me'])(
    'is rejected for the target %j',
    async (target) => {
      const out = await setUpOutgoing();
      await expect(out.within(out.send(push(target, { text: 'One.' }), signal))).rejects.toMatchObject({ code: 'unprocessable' });
      expect(out.calls).toEqual([]);
    },
  );

  test('is posted once, even if it is pushed again', async () => {
    const out = await setUpOutgoing();
    out.next['post'] = [lost];
    await out.within(out.send(push(general, { text: 'One.' }), signal));
    await out.within(out.send(push(general, { text: 'One.' }), signal));
    expect(new Set(out.named('post').map(({ body }) => body['nonce'])).size).toBe(1);
    expect(out.named('post')).toHaveLength(2);
  });
});

describe('files', () => {
  const file = (name: string, mime = 'text/plain') => ({ type: 'file', path: `/${name}`, name, mime });

  test('are posted ten per message, and too large or empty ones as text', async () => {
    const out = await setUpOutgoing({}, { '/big.bin': { bytes: 11 * mib, mime: '' }, '/none.txt': { bytes: 0, mime: '' } });
    const files = [...Array.from({ length: 12 }, (_, n) => file(`${n}.txt`)), file('big.bin'), file('none.txt')];
    await out.within(begin(out, general).finish(resultOf('', files)));
    expect(out.named('post').map(({ body, files: sent }) => body['content'] ?? sent.length)).toEqual([
      10,
      '📎 big.bin is larger than the 10 MiB that Discord accepts.',
      '📎 none.txt is empty.',
      2,
    ]);
    const nonces = out.named('post').map(({ body }) => body['nonce']);
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  test('are posted one by one if together too large, and as text if still too large', async () => {
    const out = await setUpOutgoing();
    out.answers['post'] = (call) => (call.files.length > 1 || call.files[0] === 'b.txt' ? refusal(413, 40_005)() : { id: '1' });
    await out.within(begin(out, general).finish(resultOf('', [file('a.txt'), file('b.txt'), file('c.txt')])));
    expect(out.named('post').map(({ body, files: sent }) => body['content'] ?? sent)).toEqual([
      ['a.txt', 'b.txt', 'c.txt'],
      ['a.txt'],
      ['b.txt'],
      '📎 b.txt is larger than Discord accepts here.',
      ['c.txt'],
    ]);
  });

  test('are limited to 24 MiB per message', async () => {
    const out = await setUpOutgoing(
      {},
      Object.fromEntries(['/a', '/b', '/c'].map((path) => [path, { bytes: 9 * mib, mime: '' }])),
    );
    await out.within(begin(out, general).finish(resultOf('', [file('a'), file('b'), file('c')])));
    expect(out.named('post').map(({ files: sent }) => sent)).toEqual([['a', 'b'], ['c']]);
  });

  test('that are pushed have their caption, which goes before them if it is too long', async () => {
    const out = await setUpOutgoing();
    await out.within(out.send(push(general, { path: '/x/list.txt', caption: 'the **list**' }), signal));
    await out.within(out.send({ ...push(general, { path: '/x/list.txt', caption: 'long '.repeat(500) }), id: 'd2' }, signal));
    expect(out.named('post').map(({ body, files: sent }) => [body['content']?.length, sent])).toEqual([
      [12, ['list.txt']],
      [1999, []],
      [499, []],
      [undefined, ['list.txt']],
    ]);
  });
});

describe('reactions', () => {
  const react = (emoji: string) => ({ type: 'react', emoji });

  test('are added to the message, or sent as text if Discord does not know the emoji', async () => {
    const out = await setUpOutgoing();
    for (const emoji of ['👍🏽', '<:party:1000000000000000077>', 'nonsense']) {
      if (emoji === 'nonsense') out.answers['react'] = refusal(400, 10_014, 'Unknown Emoji');
      await out.within(begin(out, general).finish(resultOf('', [react(emoji)])));
    }
    expect(out.named('react').map(({ route }) => decodeURIComponent(route.split('/').at(-2) ?? ''))).toEqual([
      '👍🏽',
      'party:1000000000000000077',
      'nonsense',
    ]);
    expect(out.contents('post')).toEqual(['nonsense']);
  });

  test('show a running turn, and are removed at its end', async () => {
    const out = await setUpOutgoing({ hasReactions: true });
    await out.within(begin(out, general).finish(resultOf('One.')));
    await out.pass(2000);
    expect(out.calls.map(({ what }) => what)).toEqual(['react', 'post', 'unreact']);
  });

  test('are tried once in a channel that forbids them', async () => {
    const out = await setUpOutgoing({ hasReactions: true });
    out.answers['react'] = refusal(403, 50_013);
    for (let n = 0; n < 3; n++) {
      await out.within(begin(out, general).finish(resultOf('One.')));
      await out.pass(5000);
    }
    expect([out.named('react').length, out.named('post').length]).toEqual([1, 3]);
  });
});

describe('question', () => {
  const ask = {
    id: 'ask_01k9abcdefghijklmn',
    text: 'May I run **rm**?',
    options: [
      { id: 'y'.repeat(200), label: 'Yes', style: 'primary' as const },
      { id: 'n', label: 'No', style: 'danger' as const },
      { id: 'l', label: 'A label 👍 '.repeat(20) },
      ...Array.from({ length: 4 }, (_, n) => ({ id: `o${n}`, label: `Other ${n}` })),
    ],
    for: 'prn_1',
    expires_at: 0,
  };

  test('has a button per answer, which are removed at its end', async () => {
    const out = await setUpOutgoing();
    const { handlers, finish } = begin(out, general);
    handlers.onAsk?.(ask);
    await out.pass(1000);
    const [question] = out.named('post');
    const rows = question?.body['components'] as { components: { label: string; custom_id: string; style: number }[] }[];
    expect([question?.body['content'], rows.map(({ components }) => components.length)]).toEqual(['May I run **rm**?', [5, 2]]);
    expect(rows[0]?.components.slice(0, 2)).toEqual([
      { type: 2, style: 1, label: 'Yes', custom_id: `ask:${ask.id}:1` },
      { type: 2, style: 4, label: 'No', custom_id: `ask:${ask.id}:2` },
    ]);
    expect(Array.from(rows[0]?.components[2]?.label ?? '').length).toBe(80);
    handlers.onAsked?.(ask.id, { option: 'n', outcome: 'answered' });
    await out.within(finish(resultOf('Done.')));
    await out.pass(5000);
    expect(out.named('edit').map(({ body }) => [body['content'], body['components']])).toEqual([['May I run **rm**?\n→ No', []]]);
  });
});
