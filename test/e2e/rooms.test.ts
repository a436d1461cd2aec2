import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { startDiscordServer } from '@svc/testing/discord-server/index.ts';
import { openHouse, waitFor } from '@svc/testing/house.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';

const rounds = Number(process.env['ROOM_ROUNDS'] ?? 2);
/** Each assistant answers a person, and then so many bots in a row. */
const cap = 1;
const perRound = 1 + 3 * cap;

/** Each assistant mentions the next one in its answer. */
const script = `
import { readFileSync } from 'node:fs';
const names = () => JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8'));
export async function* respond({ conversationKey }) {
  const text = '@' + names()[conversationKey.split(':')[1]] + ' your turn';
  yield { type: 'delta', text };
  yield { type: 'segment', text };
}
`;

type Usage = { identity: string; turns: number };
type Listed = { sessions: { conversation_key: string; turns: number }[] };

test(
  `three assistants in a Discord channel keep to the cap for ${rounds} rounds, and usage counts for the asker, by instance`,
  async () => {
    const folder = temporaryFolder();
    const server = await startDiscordServer({ name: 'one' });
    const bots = [server.bot, server.addBot({ name: 'two' }), server.addBot({ name: 'three' })];
    const ann = server.person('Ann');
    const channel = server.channel(server.guild('Work', [ann]), 'general');
    const known = [{ key: 'ann', id: ann.id }, ...bots.map(({ user }) => ({ key: `bot-${user.username}`, id: user.id }))];
    const principals = known.map(({ key, id }) => ({ key, role: 'trusted', identifiers: [{ surface: 'chatroom', value: id }] }));
    writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify({ principals }));
    writeFileSync(path.join(folder.path, 'script.mjs'), script);
    const secrets = Object.fromEntries(bots.map(({ token }, n) => [`BOT_${n}`, token]));
    writeFileSync(path.join(folder.path, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 });
    const env = { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_MAX_BOT_TURNS: String(cap) };
    const house = await openHouse({ env, dataDir: folder.path });
    onTestFinished(async () => {
      await house.stop();
      await server.close();
      folder.remove();
    });

    const ids = await Promise.all(
      bots.map(async (_, n) => {
        const config = { bot_token_secret_key: `BOT_${n}`, api_url: server.apiUrl, reactions: false, reply_style: 'final' };
        const made = { type: 'chatroom', name: `agent-${n}`, enabled: true, config };
        return (await house.post<{ instance: Instance }>(`${house.urls.manager}/instances`, made)).body.instance.id;
      }),
    );
    const next = ids.map((id, n) => [id, bots[(n + 1) % bots.length]?.user.username]);
    writeFileSync(path.join(folder.path, 'names.json'), JSON.stringify(Object.fromEntries(next)));
    const isUp = async () => {
      const { instances } = await house.get<{ instances: Instance[] }>(`${house.urls.manager}/instances`);
      return ids.every((id) => instances.some((each) => each.id === id && each.status === 'running' && each.healthy));
    };
    await waitFor(isUp, 30_000, () => `the connectors do not run:\n${house.output()}`);

    const said = () => server.replies(channel).length;
    for (let round = 1; round <= rounds; round++) {
      server.say({ from: ann, channel, text: `<@${bots[0]?.user.id}> round ${round}` });
      await waitFor(
        () => said() >= round * perRound,
        60_000,
        () => `round ${round}: ${said()} answers\n${house.output()}`,
      );
    }
    expect([said(), server.violations]).toEqual([rounds * perRound, []]);

    const usage = async () => {
      const { usage: rows } = await house.get<{ usage: Usage[] }>(`${house.urls.collector}/api/usage?since=0`);
      return known.map(({ id }) => rows.filter(({ identity }) => identity === id).reduce((sum, { turns }) => sum + turns, 0));
    };
    // Ann asks the first, who asks the second, who asks the third, who asks the first once more.
    await expect.poll(usage, { timeout: 20_000 }).toEqual([rounds, rounds, rounds, rounds]);
    const { sessions } = await house.get<Listed>(`${house.urls.core}/v2/sessions`);
    const turns = ids.map((id) => sessions.find(({ conversation_key: key }) => key.split(':')[1] === id)?.turns);
    expect(turns).toEqual([2 * rounds, rounds, rounds]);
    expect(said()).toBe(rounds * perRound);
  },
  120_000 + rounds * 30_000,
);
