import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '@svc/testing/random.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { waitFor } from '@svc/testing/house.ts';
import { randomFaults } from '@svc/testing/telegram-server/telegram-faults.ts';
import { readCore } from './channel-killed/accounts.ts';
import { killable, type Killable } from './channel-killed/killable-service.ts';
import { findBroken, isAnswered, timeline } from './messenger-killed/accounts.ts';
import { openMessengerService } from './messenger-killed/messenger-service.ts';
import { startAsking } from './messenger-killed/people.ts';

const kills = Number(process.env['MESSENGER_KILLS'] ?? 4);
const messages = Number(process.env['MESSENGER_MESSAGES'] ?? 30);
const chats = Number(process.env['MESSENGER_CHATS'] ?? 10);
const shares = { cutBefore: 0.02, cutAfter: 0.01, errorBefore: 0.02, errorAfter: 0.01, slow: 0.02, tooMany: 0.01 };
/** Who is ended so loses what the platform answered and nobody has noted. */
const writers = new Set<Killable>(['connector', 'manager']);

test(
  `${messages} messages in ${chats} chats of Telegram are answered once and in order through ${kills} kills and faults, within its limits`,
  async () => {
    const seed = Number(process.env['MESSENGER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const service = await openMessengerService(chats, { limits: {}, updateFaults: { random, twice: 0.05, outOfOrder: 0.1 } });
    onTestFinished(() => service.close());
    const { server } = service;
    server.fault = randomFaults(random, shares);
    const people = startAsking(server, service.places, messages, random, (asked) => isAnswered(server, asked));
    onTestFinished(() => people.stop());
    const killed: Killable[] = [];
    const ended: number[] = [];
    for (let round = 0; round < kills; round++) {
      await pause(200 + random() * 1500);
      const what = killable[Math.floor(random() * killable.length)] ?? 'core';
      killed.push(what);
      if (writers.has(what)) ended.push(performance.now());
      await service.kill(what);
      if (writers.has(what)) ended.push(performance.now());
    }
    await service.recover();
    await people.done;
    server.fault = () => undefined;

    let found: ReturnType<typeof findBroken> = { broken: ['nothing was looked at'], places: [], unavoidable: 0 };
    const isSound = async () => {
      found = findBroken(server, people.asked, await readCore(service.coreUrl, await keysOf(service.coreUrl)), ended);
      return found.broken.length === 0;
    };
    const explain = () =>
      `seed ${seed}: ${found.broken.length} rules broken by ${people.asked.length} messages (killed: ${killed.join(' ')})\n${found.broken.slice(0, 8).join('\n')}\n${timeline(server, found.places[0])}`;
    await waitFor(isSound, 120_000, explain);
    expect([service.faults(), server.violations, server.offences, people.asked.length]).toEqual(['', [], [], messages]);
    // One for each answer that was lost at most, and in truth far fewer.
    expect(found.unavoidable).toBeLessThanOrEqual(messages / 20 + kills);
  },
  300_000 + kills * 8000 + messages * 500,
);

async function keysOf(coreUrl: string): Promise<string[]> {
  const { body } = await requestJson<{ sessions: { conversation_key: string }[] }>(`${coreUrl}/v2/sessions?limit=1000`, {
    timeoutMs: 10_000,
  });
  return body.sessions.map(({ conversation_key }) => conversation_key);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
