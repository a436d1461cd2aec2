import type { Identity } from '@svc/contract/trust.ts';
import { fakeContext } from '@svc/connector-kit/testing';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { APIInteraction } from 'discord-api-types/v10';
import { describe, expect, onTestFinished, test } from 'vitest';
import { takeVoiceCommand } from '../interactions/take-voice-command.ts';
import { openDiscordVoice } from './discord-voice.ts';
import { installQuietVoice } from './testing/quiet-voice.ts';

/** A server with a voice channel and a text channel; Ann is in the voice channel. */
function openServer(
  tierOf: (user: string) => Identity['trust_tier'] | null = () => 'TRUSTED',
  packages: { folder: string } | { missing: string } = {
    missing: 'Its libraries are not installed: npm did not finish: no network.',
  },
) {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const { context } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  const rest = {
    get: async (route: string) => {
      if (route === '/guilds/g/voice-states/ann') return { channel_id: 'voice' };
      throw new Error('404');
    },
  };
  const rooms = {
    find: async (id: string) =>
      ['voice', 'off', 'text'].includes(id)
        ? { id, name: id, guildId: 'g', guildName: 'G', kind: id === 'text' ? ('text' as const) : ('voice' as const) }
        : null,
    known: (id: string) =>
      id === 'thread' ? { id, name: id, guildId: 'g', guildName: 'G', kind: 'thread' as const, parentId: 'off' } : undefined,
    guild: async () => ({ id: 'g', name: 'G', roles: new Map(), ownRoles: [], isPublic: false }),
  };
  const posts: string[] = [];
  const voice = openDiscordVoice({
    ...context,
    packages,
    botId: 'bot',
    rest: rest as never, // the part of the library that is used here
    rooms,
    findSpeaker: async (sender) => {
      const tier = tierOf(sender.raw_id);
      return { sender, byRole: false, identity: { denied: tier === null, trust_tier: tier ?? 'UNKNOWN' } as unknown as Identity };
    },
    isEnabled: (channel) => channel !== 'off',
    take: async () => undefined,
    post: async (_channel, text) => String(posts.push(text)),
    sendToGateway: async () => undefined,
  });
  const said: string[] = [];
  const respond = {
    show: async (_: object, text: string) => String(said.push(`all: ${text}`)),
    tell: async (_: object, text: string) => void said.push(`you: ${text}`),
    with: async () => undefined,
  };
  const command = async (name: string, more: object = {}, options: object[] = [], withVoice = true) => {
    const member = { user: { id: 'ann', username: 'ann' }, roles: [] };
    const interaction = {
      id: '1',
      token: 't',
      guild_id: 'g',
      channel_id: 'text',
      member,
      data: { type: 1, name, options },
      ...more,
    };
    const deps = {
      voice: withVoice ? voice : null,
      respond,
      post: async (_: string, text: string) => void posts.push(text),
      log: context.log,
    };
    return takeVoiceCommand(deps, interaction as unknown as APIInteraction);
  };
  return { voice, posts, said, command };
}

describe('/join', () => {
  test('joins the channel of the person, and posts the result in the text channel', async () => {
    const { said, posts, command } = openServer();
    expect(await command('join')).toBe(true);
    expect(said).toEqual(['all: I am joining <#voice>.']);
    expect(posts).toEqual(['Its libraries are not installed: npm did not finish: no network.']);
  });

  test.each([
    [
      'a person who is in none',
      { member: { user: { id: 'ben', username: 'ben' }, roles: [] } },
      [],
      'Join a voice channel first, or name one.',
    ],
    ['a channel of text', {}, [{ name: 'channel', value: 'text' }], 'That is not a voice channel of this server.'],
    ['a channel that is not there', {}, [{ name: 'channel', value: 'gone' }], 'That is not a voice channel of this server.'],
    ['a text channel that is switched off', { channel_id: 'off' }, [], 'I am switched off in this channel.'],
    ['a thread of a channel that is switched off', { channel_id: 'thread' }, [], 'I am switched off in this channel.'],
    ['a voice channel that is switched off', {}, [{ name: 'channel', value: 'off' }], 'I am switched off in this channel.'],
    [
      'a private chat',
      { guild_id: undefined },
      [],
      'This command works only on a server: private messages have no voice channels.',
    ],
  ])('says why not to the person alone: %s', async (_what, more, options, why) => {
    const { said, posts, command } = openServer();
    await command('join', more, options);
    expect([said, posts]).toEqual([[`you: ${why}`], []]);
  });

  test.each([null, 'UNKNOWN', 'GUEST'] as const)('is refused to strangers: %s', async (tier) => {
    const { said, command } = openServer(() => tier);
    await command('join');
    await command('leave');
    const refusal = 'you: Only people I know may call me into a voice channel or send me away.';
    expect(said).toEqual([refusal, refusal]);
  });
});

test.each([
  [
    'on a stage or without the right to speak',
    { suppress: true },
    /^Nobody can hear me in <#voice>: I am not allowed to speak there/,
  ],
  ['muted by a moderator', { mute: true }, /^Nobody can hear me in <#voice>: I am muted there/],
])('reports that it cannot be heard, when it joins and when that changes: %s', async (_what, state, note) => {
  const { folder } = await installQuietVoice();
  const { voice, posts, command } = openServer(undefined, { folder });
  const now = (more: object, user_id = 'bot') =>
    voice.note({ t: 'VOICE_STATE_UPDATE', d: { guild_id: 'g', user_id, channel_id: 'voice', ...more } });
  now(state);
  now(state, 'ann');
  await command('join');
  now(state);
  expect(posts).toEqual([expect.stringMatching(note), expect.stringMatching(/^I am listening in <#voice>/)]);
  now({});
  now(state);
  expect(posts.slice(2)).toEqual([expect.stringMatching(note)]);
  voice.close();
});

test('/leave says so when it is in no channel', async () => {
  const { said, command } = openServer();
  await command('leave');
  expect(said).toEqual(['you: I am not in a voice channel here.']);
});

test('an instance without voice says how to enable it', async () => {
  const { said, command } = openServer();
  await command('join', {}, [], false);
  expect(said).toEqual([expect.stringContaining('--set voice=true')]);
});

test('ignores other commands', async () => {
  const { said, command } = openServer();
  expect([await command('new'), await command('join', { data: { type: 3, name: 'join' } })]).toEqual([false, false]);
  expect(said).toEqual([]);
});
