import { expect, onTestFinished, test } from 'vitest';
import { pause } from '@svc/testing/pause.ts';
import type { ChooseFault } from '@svc/testing/chat-platform/platform-faults.ts';
import type { ChatPlatformOptions } from '@svc/testing/chat-platform/start-chat-platform.ts';
import { createRandom } from '@svc/testing/random.ts';
import { waitFor } from '@svc/testing/house.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { findBroken, readCore } from './channel-killed/accounts.ts';
import { openChannelService } from './channel-killed/channel-service.ts';
import { killable, type Killable } from './channel-killed/killable-service.ts';
import { startTalking } from './channel-killed/people.ts';

const kills = Number(process.env['CHANNEL_KILLS'] ?? usualOrDeep(4, 30));
const rules: [string, ChatPlatformOptions][] = [
  ['dedupes posts by their nonce', { dedupesNonces: true }],
  ['finds a message by its nonce', { findsNonces: true }],
];

/** A short run takes one of them at random. */
test.each(kills > 50 ? rules : rules.filter((_, n) => n === Date.now() % 2))(
  `on a platform that %s, ${kills} kills under load (connections, connector, manager, core) lose and duplicate no message`,
  async (_, chosen) => {
    const seed = Number(process.env['CHANNEL_KILLS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const service = await openChannelService({ ...chosen, limit: { burst: 20, perMs: 60, penaltyMs: 300 } });
    onTestFinished(() => service.close());
    const { platform } = service;
    platform.fault = randomFaults(random);
    const people = startTalking(platform, random);
    const killed: Killable[] = [];
    for (let round = 0; round < kills; round++) {
      await pause(100 + random() * 900);
      const what = killable[Math.floor(random() * killable.length)] ?? 'core';
      killed.push(what);
      await service.kill(what);
    }
    await people.stop();
    platform.fault = () => undefined;
    await service.recover();

    let broken: string[] = [];
    const isSound = async () => {
      broken = findBroken(platform, people.said, await readCore(service.coreUrl, service.keys));
      return broken.length === 0;
    };
    const explain = () =>
      `seed ${seed}: ${broken.length} of ${people.said.length} messages broke a rule (killed: ${killed.join(' ')})\n${broken.slice(0, 8).join('\n')}`;
    await waitFor(isSound, 30_000, explain);
    expect([service.faults(), people.said.length > kills]).toEqual(['', true]);
  },
  120_000 + kills * 8000,
);

/** Network faults and errors of a busy platform, for some of the requests. */
const randomFaults =
  (random: () => number): ChooseFault =>
  ({ method, path }) => {
    const luck = random();
    if (luck < 0.02) return 'cut before';
    if (luck < 0.04) return 'cut after';
    if (luck < 0.06) return { status: 502, when: 'before' };
    if (luck < 0.08) return { status: 502, when: 'after' };
    if (luck < 0.1) return { slowMs: 50 };
    return luck < 0.105 && method === 'POST' && path.endsWith('/messages') ? 'no answer' : undefined;
  };
