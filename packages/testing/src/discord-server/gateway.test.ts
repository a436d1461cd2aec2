import { GatewayIntentBits, type Client } from 'discord.js';
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../random.ts';
import { useDiscordTrial } from './use-discord-trial.ts';

const trial = useDiscordTrial();
const say = (text: string) => trial.server.say({ from: trial.ann, channel: trial.general, text });
const heard = () => trial.heard.map(({ content }) => content);
const whats = () => trial.server.gateway.log.map(({ what }) => what);

describe('gateway session', () => {
  test.each<[string, () => void]>([
    ['whose connection is cut', () => trial.server.gateway.drop()],
    ['that is asked to connect again', () => trial.server.gateway.askToReconnect()],
    ['that the server closes', () => trial.server.gateway.close(4000)],
    ['that is invalid, but can be resumed', () => trial.server.gateway.invalidate(true)],
  ])('%s is resumed, with the missed messages in order', async (_, end) => {
    say('before');
    end();
    say('meanwhile 1');
    say('meanwhile 2');
    await expect.poll(whats).toContain('resumed');
    say('after');
    await expect.poll(heard).toEqual(['before', 'meanwhile 1', 'meanwhile 2', 'after']);
    expect(whats().filter((what) => what === 'identified')).toHaveLength(1);
  });

  test('that is invalid is not resumed, and misses messages', async () => {
    trial.server.gateway.invalidate(false);
    say('meanwhile');
    // The library waits five seconds before it identifies again.
    await expect.poll(whats).toContain('closed');
    expect(heard()).toEqual([]);
  });

  test('gets each event despite duplicates, in the order of its channel', async () => {
    await trial.open({ eventFaults: { random: createRandom(5), twice: 0.3, outOfOrder: 0.3 } });
    let came = 0;
    trial.client.on('raw', ({ t }: { t: string }) => void (came += t === 'MESSAGE_CREATE' ? 1 : 0));
    const other = trial.server.channel(trial.guild, 'other');
    for (let n = 0; n < 20; n++) {
      say(`general ${n}`);
      trial.server.say({ from: trial.ann, channel: other, text: `other ${n}` });
    }
    await expect.poll(() => new Set(heard()).size).toBe(40);
    await expect.poll(() => came).toBeGreaterThan(44);
    const firsts = heard();
    for (const name of ['general', 'other'])
      expect(firsts.filter((text) => text.startsWith(name))).toEqual(Array.from({ length: 20 }, (_, n) => `${name} ${n}`));
    expect(firsts).not.toEqual(
      firsts.toSorted((a, b) => Number(a.split(' ')[1]) - Number(b.split(' ')[1]) || a.localeCompare(b)),
    );
  });
});

describe('gateway', () => {
  const loginError = (token: string, intents?: number[]): Promise<string> =>
    trial.connect(token, intents).then(
      (client: Client) => String(client.user?.tag),
      (error: Error) => error.message,
    );

  test('rejects a wrong token and an intent that is not enabled', async () => {
    const narrow = trial.server.addBot({ name: 'Narrow', readsMessageContent: false });
    expect(await loginError('AAAA.bbbb.cccc')).toBe('An invalid token was provided.');
    const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;
    expect(await loginError(narrow.token, [Guilds, MessageContent])).toBe('Used disallowed intents');
    expect(await loginError(narrow.token, [Guilds, GuildMessages])).toBe('narrow');
  });

  test('closes the connection with the code of an invalid payload', async () => {
    const speak = (payload: unknown, version = 10): Promise<number> =>
      new Promise((resolve) => {
        const socket = new WebSocket(
          `${trial.server.apiUrl.replace(/^http(.*)\/api$/, 'ws$1')}/gateway?v=${version}&encoding=json`,
        );
        socket.on('close', (code) => resolve(code));
        socket.once('message', () => socket.send(typeof payload === 'string' ? payload : JSON.stringify(payload)));
      });
    const codes = [
      await speak('no json'),
      await speak({ op: 99, d: null }),
      await speak({ op: 3, d: {} }),
      await speak({ op: 2, d: { token: 'wrong', intents: 1 } }),
      await speak({ op: 2, d: { token: trial.server.token, intents: -1 } }),
      await speak({}, 9),
    ];
    expect(codes).toEqual([4002, 4001, 4003, 4004, 4013, 4012]);
  });
});

test('a bot without the message content intent reads only messages to it', async () => {
  const { server, ann, general, guild } = trial;
  const narrow = server.addBot({ name: 'Narrow', readsMessageContent: false });
  server.join(guild, narrow.user);
  const { Guilds, GuildMessages, DirectMessages } = GatewayIntentBits;
  const client = await trial.connect(narrow.token, [Guilds, GuildMessages, DirectMessages]);
  const read: string[] = [];
  client.on('messageCreate', ({ content }) => void read.push(content));
  say('for all');
  say(`<@${narrow.user.id}> for you`);
  server.say({ from: ann, channel: server.dm(ann, narrow), text: 'between us' });
  await expect.poll(() => read).toEqual(['', `<@${narrow.user.id}> for you`, 'between us']);
  expect(server.messages(general)[0]?.text).toBe('for all');
});

test('missing heartbeat acknowledgments end the connection, which is resumed', async () => {
  await trial.open({ heartbeatMs: 40 });
  trial.server.gateway.hasAcks = false;
  await expect.poll(whats).toContain('closed');
  trial.server.gateway.hasAcks = true;
  await expect.poll(whats).toContain('resumed');
});

test('refused connections are retried', async () => {
  trial.server.gateway.refuseNext(1);
  trial.server.gateway.drop();
  await expect.poll(whats, { timeout: 15_000 }).toContain('resumed');
});
