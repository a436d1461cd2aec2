import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '@svc/testing/random.ts';
import { randomFaults } from '@svc/testing/telegram-server/telegram-faults.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { askThroughKills } from './killed-chat/ask-through-kills.ts';
import { findBroken, isAnswered } from './killed-chat/find-broken.ts';
import { seenOf } from './messenger-killed/accounts.ts';
import { openMessengerService } from './messenger-killed/messenger-service.ts';
import { ask } from './messenger-killed/places.ts';

const kills = Number(process.env['MESSENGER_KILLS'] ?? usualOrDeep(3, 10));
const messages = Number(process.env['MESSENGER_MESSAGES'] ?? usualOrDeep(20, 30));
const chats = Number(process.env['MESSENGER_CHATS'] ?? 10);
const shares = { cutBefore: 0.02, cutAfter: 0.01, errorBefore: 0.02, errorAfter: 0.01, slow: 0.02, tooMany: 0.01 };

test(
  `answers ${messages} messages in ${chats} Telegram chats once and in order through ${kills} kills and faults, within the limits`,
  async () => {
    const seed = Number(process.env['MESSENGER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const service = await openMessengerService(chats, { limits: {}, updateFaults: { random, twice: 0.05, outOfOrder: 0.1 } });
    onTestFinished(() => service.close());
    const { server, places } = service;
    server.fault = randomFaults(random, shares);
    const { asked, unavoidable } = await askThroughKills({
      service,
      kills,
      seed,
      asking: {
        places,
        total: messages,
        random,
        ask: (place, question) => ask(server, random, place, question),
        isAnswered: (one) => isAnswered(seenOf(server, []), one),
      },
      calm: () => void (server.fault = () => undefined),
      find: (all, core, ended) => findBroken(seenOf(server, ended), all, core),
    });
    expect([service.faults(), server.violations, server.offences, asked]).toEqual(['', [], [], messages]);
    // At most one for each answer that was lost; usually far fewer.
    expect(unavoidable).toBeLessThanOrEqual(messages / 20 + kills);
  },
  300_000 + kills * 8000 + messages * 500,
);
