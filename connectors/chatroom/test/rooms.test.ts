import type { StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startDiscordServer } from '@svc/testing/discord-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

const maxBotTurns = 2;

/** Three assistants in a channel, each of which mentions the next one in every reply. Their cores cap turns of bots as the real one does. */
async function openThree() {
  const server = await startDiscordServer({ name: 'one' });
  const bots = [server.bot, server.addBot({ name: 'two' }), server.addBot({ name: 'three' })];
  const ann = server.person('Ann');
  const guild = server.guild('Work', [ann]);
  const general = server.channel(guild, 'general');
  const agents = await Promise.all(
    bots.map(async (bot, n) => {
      const folder = temporaryFolder();
      const config = {
        ...defaultsOf(meta),
        bot_token_secret_key: 'TOKEN',
        api_url: server.apiUrl,
        reactions: false,
        reply_style: 'final',
      };
      const fake = fakeContext({ type: meta.type, dataDir: folder.path, config, instanceId: `inst_${n}` }, { TOKEN: bot.token });
      const next = bots[(n + 1) % bots.length]?.user.username ?? '';
      let inARow = 0;
      fake.core.script = ({ envelope, result }) => {
        const { delivery, sender } = envelope;
        const isOver = sender.is_bot === true && inARow >= maxBotTurns;
        if (sender.is_bot !== true) inARow = 0;
        if (delivery === 'async' || isOver) return result({ outcome: 'observed' });
        if (sender.is_bot === true) inARow++;
        return result({ actions: [{ type: 'reply', text: `@${next} your turn` }] });
      };
      const live = await start(fake.context as unknown as StartContext<Config>);
      onTestFinished(async () => {
        fake.shutdown.abort();
        await live.stop();
        folder.remove();
      });
      return fake;
    }),
  );
  onTestFinished(() => server.close());
  const said = () => server.replies(general).map(({ from }) => from);
  return { server, ann, general, agents, bots, said, ask: (text: string) => server.say({ from: ann, channel: general, text }) };
}

test('three bots take turns until the cap, and each treats the others as bots', async () => {
  const { agents, bots, said, ask } = await openThree();
  ask(`<@${bots[0]?.user.id}> begin`);
  // One turn for the person, and the capped number of turns of each bot.
  await expect.poll(() => said().length, { timeout: 35_000 }).toBe(1 + 3 * maxBotTurns);
  expect(said()).toEqual(Array.from({ length: 1 + 3 * maxBotTurns }, (_, n) => ['one', 'two', 'three'][n % 3]));
  for (const { core } of agents) {
    expect(core.turns.some(({ envelope }) => envelope.sender.is_bot === true && envelope.delivery === 'async')).toBe(true);
    expect(core.turns.every(({ envelope }) => envelope.sender.is_bot === true || envelope.sender.raw_username === 'ann')).toBe(
      true,
    );
  }
});

test('“stop” by a person ends the turns of all bots', async () => {
  const { agents, bots, said, ask } = await openThree();
  const aborted = agents.map(({ core }) => {
    let times = 0;
    core.sessions.abort = async () => void times++;
    return () => times;
  });
  ask(`<@${bots[0]?.user.id}> begin`);
  await expect.poll(() => said().length).toBeGreaterThan(2);
  ask('stop');
  await expect.poll(() => aborted.map((times) => times())).toEqual([1, 1, 1]);
  await expect.poll(() => agents.reduce((sum, { core }) => sum + core.turns.length, 0)).toBeGreaterThan(0);
  const after = said().length;
  ask('something else, to nobody');
  // Not necessarily the last turn: a reply that was already being sent may follow it.
  await expect
    .poll(() =>
      agents.every(({ core }) => core.turns.some(({ envelope }) => envelope.content.text === 'something else, to nobody')),
    )
    .toBe(true);
  // A reply that was already being sent may still be shown: one at most.
  expect(said().length - after).toBeLessThanOrEqual(1);
});
