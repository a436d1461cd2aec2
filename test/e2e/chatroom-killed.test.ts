import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '@svc/testing/random.ts';
import { randomFaults } from '@svc/testing/telegram-server/telegram-faults.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { openChatroomService } from './chatroom-killed/chatroom-service.ts';
import { ask, seenOf } from './chatroom-killed/places.ts';
import { askThroughKills } from './killed-chat/ask-through-kills.ts';
import { findBroken, isAnswered } from './killed-chat/find-broken.ts';

const kills = Number(process.env['CHATROOM_KILLS'] ?? usualOrDeep(3, 10));
const messages = Number(process.env['CHATROOM_MESSAGES'] ?? usualOrDeep(20, 30));
const chats = Number(process.env['CHATROOM_CHATS'] ?? 10);
const shares = { cutBefore: 0.02, cutAfter: 0.01, errorBefore: 0.02, errorAfter: 0.01, slow: 0.02, tooMany: 0.01 };

test(
  `answers ${messages} messages in ${chats} Discord chats once and in order through ${kills} kills, ended sessions and faults`,
  async () => {
    const seed = Number(process.env['CHATROOM_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const service = await openChatroomService(chats, { limits: {}, eventFaults: { random, twice: 0.05, outOfOrder: 0.1 } });
    onTestFinished(() => service.close());
    const { server, places } = service;
    const { gateway } = server;
    server.fault = randomFaults(random, shares);
    const disturbances = [
      () => gateway.askToReconnect(),
      () => gateway.invalidate(true),
      () => gateway.invalidate(false),
      () => gateway.close(4000),
      () => gateway.refuseNext(2),
    ];
    const { asked } = await askThroughKills({
      service,
      kills,
      seed,
      asking: {
        places,
        total: messages,
        random,
        ask: (place, question) => ask(server, random, place, question),
        isAnswered: (one) => isAnswered(seenOf(server), one),
      },
      disturb: () => disturbances[Math.floor(random() * disturbances.length)]?.(),
      calm: () => void (server.fault = () => undefined),
      find: (all, core) => findBroken(seenOf(server), all, core),
    });
    expect([service.faults(), server.violations, asked]).toEqual(['', [], messages]);
    // A new process cannot know how long the one before it was asked to wait.
    expect(server.offences.filter(({ early }) => early).length).toBeLessThanOrEqual(kills);
  },
  300_000 + kills * 8000 + messages * 500,
);
