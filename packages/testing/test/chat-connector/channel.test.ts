import type { StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startChatPlatform, type ChatPlatformOptions } from '../../src/chat-platform/start-chat-platform.ts';
import { temporaryFolder } from '../../src/temporary-folder.ts';
import { meta, type Config } from '../../src/chat-connector/meta.ts';
import { start } from '../../src/chat-connector/start.ts';

/** The connector between a running platform and a core that the test scripts. */
async function openChannel(options: ChatPlatformOptions = { dedupesNonces: true }) {
  const folder = temporaryFolder();
  const platform = await startChatPlatform(options);
  const { dedupesNonces, findsNonces } = platform.rules;
  const config = {
    ...defaultsOf(meta),
    base_url: platform.url,
    token_secret_key: 'TOKEN',
    edit_ms: 20,
    finds_nonces: findsNonces,
  };
  const fake = fakeContext({ type: meta.type, dataDir: folder.path, config }, { TOKEN: platform.token });
  const live = await start(fake.context as unknown as StartContext<Config>);
  onTestFinished(async () => {
    fake.shutdown.abort();
    await live.stop();
    await platform.close();
    folder.remove();
  });
  const shows = (chat: string) =>
    expect.poll(() => platform.replies(chat).flatMap(({ isDeleted, text }) => (isDeleted ? [] : [text])));
  return { platform, live, shows, dedupesNonces, ...fake };
}

const file = (name: string) => ({ name, mime: 'text/plain', bytes: Buffer.from(name) });

test('an album is one message with all its files, whenever its parts arrive', async () => {
  const { platform, shows, core, saved } = await openChannel();
  platform.sayAlbum({ chat: 'ann', from: 'ann', text: 'look' }, [file('a'), file('b'), file('c')]);
  await shows('ann').toEqual(['echo: look']);
  expect([core.turns.length, saved.map(({ name }) => name)]).toEqual([1, ['a', 'b', 'c']]);
  expect(core.turns[0]?.envelope.content.attachments).toHaveLength(3);
});

test('a group is one conversation with the sender of each message, and tells mentions of the assistant', async () => {
  const { platform, shows, core } = await openChannel();
  platform.openGroup('room', 'The room');
  platform.say({ chat: 'room', from: 'ann', text: 'one' });
  platform.say({ chat: 'room', from: 'bob', text: 'two', mentions_bot: true });
  await shows('room').toEqual(['echo: one', 'echo: two']);
  expect(
    core.turns.map(({ envelope: { conversation_key, sender, mentioned } }) => [conversation_key, sender.raw_id, mentioned]),
  ).toEqual([
    ['platform:inst_1:channel:room', 'ann', false],
    ['platform:inst_1:channel:room', 'bob', true],
  ]);
});

test('forwards edits and deletions after their message, with increasing versions', async () => {
  const { platform, core } = await openChannel();
  const { id } = platform.say({ chat: 'ann', from: 'ann', text: 'one' });
  platform.edit(id, 'two');
  platform.remove(id);
  await expect.poll(() => core.amendments.length).toBe(2);
  const [edited, deleted] = core.amendments;
  expect([edited?.text, deleted?.text, (edited?.version ?? 0) < (deleted?.version ?? 0)]).toEqual(['two', null, true]);
  expect(edited).toMatchObject({
    conversation_key: 'platform:inst_1:user:ann',
    message_id: id,
    as: { sender: { raw_id: 'ann' } },
  });
  await expect.poll(() => platform.passed).toBe(3);
});

test('a question has buttons, takes a press as the answer, and loses the buttons afterwards', async () => {
  const { platform, shows, core } = await openChannel();
  const options = [
    { id: 'y', label: 'Yes' },
    { id: 'n', label: 'No' },
  ];
  core.script = async ({ handlers, result }) => {
    handlers.onAsk?.({ id: 'ask_1', text: 'May I?', options, for: 'prn_1', expires_at: 0 });
    await expect.poll(() => core.answers.length).toBe(1);
    handlers.onAsked?.('ask_1', { option: 'y', outcome: 'answered' });
    return result({ actions: [{ type: 'reply', text: 'Done.' }] });
  };
  platform.say({ chat: 'ann', from: 'ann', text: 'go' });
  await shows('ann').toEqual(['May I?']);
  platform.press(platform.replies('ann')[0]?.id ?? '', 'ann', 'ask_1 y');
  await shows('ann').toEqual(['May I?\n→ Yes', 'Done.']);
  expect(core.answers[0]).toMatchObject({ askId: 'ask_1', option: 'y', as: { sender: { raw_id: 'ann' } } });
  expect(platform.replies('ann')[0]?.buttons).toBeUndefined();
});

test('sets a reaction on the message it answers', async () => {
  const { platform, core } = await openChannel();
  core.script = ({ result }) => result({ actions: [{ type: 'react', emoji: '👍' }] });
  const { id } = platform.say({ chat: 'ann', from: 'ann', text: 'thanks' });
  const reactions = () => platform.calls.filter(({ method }) => method === 'PUT').map(({ path, json }) => [path, json]);
  await expect.poll(reactions).toEqual([[`/chats/ann/messages/${id}/reaction`, { emoji: '👍' }]]);
  expect(platform.replies('ann')).toEqual([]);
});

test('does not confirm an update until the core has taken it', async () => {
  const { platform, shows, core } = await openChannel();
  const taken = Promise.withResolvers<void>();
  const { handleStream } = core;
  core.handleStream = async (...given) => {
    await taken.promise;
    return handleStream(...given);
  };
  platform.say({ chat: 'ann', from: 'ann', text: 'one' });
  await expect.poll(() => platform.calls.filter(({ path }) => path === '/updates').length).toBeGreaterThan(3);
  expect(platform.passed).toBe(0);
  taken.resolve();
  await shows('ann').toEqual(['echo: one']);
  await expect.poll(() => platform.passed).toBe(1);
});

test.each([
  ['the platform dedupes', { dedupesNonces: true }],
  ['the platform can be searched', { findsNonces: true }],
])('a post whose response is lost is sent once where %s', async (_, rules) => {
  const { platform, shows, core } = await openChannel(rules);
  platform.failNext(/^POST .*messages$/, 'cut after', { status: 502, when: 'after' });
  platform.say({ chat: 'ann', from: 'ann', text: 'one' });
  await shows('ann').toEqual(['echo: one']);
  await expect.poll(() => core.acks.length).toBe(1);
  expect(platform.replies('ann')).toHaveLength(1);
});

test('keeps the pause of a rate limit, and replies after it', async () => {
  const { platform, shows } = await openChannel({ dedupesNonces: true, limit: { burst: 1, perMs: 400, penaltyMs: 500 } });
  for (const text of ['one', 'two', 'three']) platform.say({ chat: 'ann', from: 'ann', text });
  await shows('ann').toEqual(['echo: one', 'echo: two', 'echo: three']);
  const penalties = platform.calls.filter(({ status }) => status === 429).length;
  expect(penalties).toBeLessThan(6); // so no pause was ignored
});

test('unknown buttons and reactions do not block later messages', async () => {
  const { platform, shows, core } = await openChannel();
  const { id } = platform.say({ chat: 'ann', from: 'ann', text: 'one' });
  await shows('ann').toEqual(['echo: one']);
  core.answer = () => Promise.reject(new Error('this question is over'));
  platform.react(id, 'ann', '👍');
  const [reply] = platform.replies('ann');
  if (reply !== undefined) reply.buttons = [{ id: 'no question', label: 'x' }];
  platform.press(reply?.id ?? '', 'bob', 'no question');
  platform.say({ chat: 'ann', from: 'ann', text: 'two' });
  await shows('ann').toEqual(['echo: one', 'echo: two']);
  await expect.poll(() => platform.passed).toBe(4);
});

test('posts a reply again when its message is deleted while it is written', async () => {
  const { platform, shows, core } = await openChannel();
  const begun = 'this is more than thirty characters long';
  core.script = async ({ handlers, result }) => {
    handlers.onDelta?.(begun);
    await shows('ann').toEqual([begun]);
    for (const reply of platform.replies('ann')) reply.isDeleted = true;
    return result({ actions: [{ type: 'reply', text: `${begun}, and ends` }] });
  };
  platform.say({ chat: 'ann', from: 'ann', text: 'one' });
  await shows('ann').toEqual([`${begun}, and ends`]);
});

test('reports another program with the same token in the health, and recovers', async () => {
  const { platform, live } = await openChannel();
  const headers = { authorization: `Bot ${platform.token}` };
  await expect.poll(() => platform.calls.at(-1)?.path).toBe('/updates');
  await fetch(`${platform.url}/updates?after=0&wait=0`, { headers });
  await expect.poll(() => live.health()).toEqual({ healthy: false, detail: expect.stringContaining('409') });
  await expect.poll(() => live.health().healthy).toBe(true);
});
