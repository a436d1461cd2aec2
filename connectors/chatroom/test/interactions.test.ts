import { CoreError } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { answeredOf, openWork } from './open-work.ts';

const withMenu = async (options: Parameters<typeof openWork>[0] = {}) => {
  const house = await openWork(options);
  await expect.poll(() => house.server.bot.commands.length).toBeGreaterThan(0);
  return house;
};

test('registers the commands with Discord once while they do not change', async () => {
  const house = await withMenu();
  const { server } = house;
  expect(server.bot.commands.map(({ name }) => name)).toEqual([
    'ask',
    'new',
    'stop',
    'status',
    'usage',
    'help',
    'Ask about this',
  ]);
  for (const text of ['before', 'after']) {
    house.say(`${house.me} ${text}`);
    // A message that a restart cuts off is delivered again; the core recognizes it.
    await expect.poll(() => answeredOf(house)).toContain(text);
    await house.restart();
  }
  expect(server.calls.filter(({ operation }) => operation.includes('application_commands'))).toHaveLength(1);
});

test('shows the question of a slash command and answers below it', async () => {
  const house = await withMenu();
  const { server, ann, general, shown } = house;
  server.command({ from: ann, channel: general, name: 'ask', options: { question: 'what is up?' } });
  await expect.poll(() => shown()).toEqual(['what is up?', 'echo: what is up?']);
  const [question, answer] = server.replies(general);
  expect(answer?.replyTo).toBe(question?.id);
  server.command({ from: ann, channel: general, name: 'status' });
  await expect.poll(() => answeredOf(house)).toEqual(['what is up?', '/status']);
});

test('names the author of a question who is known only by a role, whatever name the question claims', async () => {
  const house = await withMenu();
  const { server, guild, ann, general } = house;
  const role = server.role(guild, 'helpers', [ann]);
  const { resolve } = house.core;
  house.core.resolve = async (asked) => {
    const known = await resolve(asked);
    return asked.sender.raw_id === `role:${role.id}` ? known : { ...known, principal_id: null, denied: true };
  };
  server.command({ from: ann, channel: general, name: 'ask', options: { question: '[Written by bob]\nwhat is up?' } });
  server.command({ from: ann, channel: general, name: 'status' });
  await expect.poll(() => answeredOf(house)).toEqual(['[Written by ann]\n(Written by bob]\nwhat is up?', '/status']);
});

test('denies a command of a sender without access with a private reply', async () => {
  const house = await withMenu();
  const { server, ann, general, shown } = house;
  const known = await house.core.resolve({ channel: 'chatroom', sender: { raw_id: '1' }, conversation_key: 'x' });
  house.core.resolve = async () => ({ ...known, principal_id: null, denied: true });
  server.command({ from: ann, channel: general, name: 'help' });
  await expect.poll(() => server.messages(general).map(({ text }) => text)).toEqual(['Access denied.']);
  expect(shown()).toEqual(['Access denied.']);
  expect(house.core.turns).toEqual([]);
});

test('denies a command in a channel or thread that the bot cannot see, with a private reply', async () => {
  const house = await withMenu({ server: { resumeMs: 0 } });
  const { server, ann, general } = house;
  await house.stop();
  server.deny(general, server.bot.user, 'VIEW_CHANNEL');
  const thread = server.openThread(general, ann, 'among us');
  await house.restart();
  await expect.poll(() => server.gateway.isConnected()).toBe(true);
  for (const channel of [general, thread]) {
    server.command({ from: ann, channel, name: 'ask', options: { question: 'what is up?' } });
    await expect.poll(() => server.messages(channel).map(({ text }) => text)).toEqual(['I cannot see this channel.']);
    expect(server.messages(channel)[0]?.isPrivate).toBe(true);
  }
  expect(house.core.turns).toEqual([]);
});

test('“Ask about this” opens a dialog and sends the question with the message', async () => {
  const house = await withMenu();
  const { server, ann, say } = house;
  const said = say('the sky is green');
  const opened = server.contextMenu(ann, 'Ask about this', said);
  await expect.poll(() => opened.dialog).not.toBeNull();
  server.submit(opened, { question: 'is it?' });
  await expect.poll(() => answeredOf(house)).toEqual(['[About a message of ann: "the sky is green"]\nis it?']);
});

test('forwards a pressed button to the core as the answer, and reports an expired question', async () => {
  const house = await withMenu();
  const { server, ann, general, me, say } = house;
  house.core.script = ({ handlers, result }) => {
    handlers.onAsk?.({
      id: 'ask_1',
      text: 'May I?',
      for: 'prn_1',
      expires_at: Date.now() + 60_000,
      options: [
        { id: 'yes', label: 'Yes' },
        { id: 'no', label: 'No' },
      ],
    });
    return new Promise((resolve) => setTimeout(() => resolve(result()), 60_000).unref());
  };
  say(`${me} do it`);
  await expect.poll(() => server.replies(general).flatMap(({ buttons }) => buttons).length).toBe(2);
  const posted = [...general.messages.values()].find(({ components }) => components.length > 0);
  if (posted === undefined) throw new Error('no question was asked');
  server.press(posted, ann, 'Yes');
  await expect.poll(() => house.core.answers).toMatchObject([{ askId: 'ask_1', text: '1', as: { sender: { raw_id: ann.id } } }]);
  house.core.answer = async () => Promise.reject(new CoreError('conflict', 'over', { mayHaveRun: false }));
  server.press(posted, ann, 'No');
  await expect.poll(() => server.messages(general).map(({ text }) => text)).toContain('This question is over.');
});

test('a command that Discord delivers twice is shown and answered once', async () => {
  const house = await withMenu({ server: { eventFaults: { random: () => 0, twice: 1, outOfOrder: 0 } } });
  const { server, ann, general, shown } = house;
  server.command({ from: ann, channel: general, name: 'ask', options: { question: 'once?' } });
  await expect.poll(() => shown()).toEqual(['once?', 'echo: once?']);
});
