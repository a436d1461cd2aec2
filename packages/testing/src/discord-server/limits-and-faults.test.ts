import { REST, Routes, RateLimitError } from 'discord.js';
import { describe, expect, test } from 'vitest';
import { randomFaults } from '../telegram-server/telegram-faults.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createRandom } from '../random.ts';
import { refusalOf, useDiscordTrial } from './use-discord-trial.ts';

const trial = useDiscordTrial();
const restOf = (more: object = {}) => new REST({ api: trial.server.apiUrl, retries: 0, ...more }).setToken(trial.server.token);
const route = () => Routes.channelMessages(trial.general.id);
const post = (content: string) =>
  fetch(`${trial.server.apiUrl}/v10${route()}`, {
    method: 'POST',
    headers: { authorization: `Bot ${trial.server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content }),
  });
const texts = () => trial.server.replies(trial.general).map(({ text }) => text);

describe('limits', () => {
  test('are announced in headers per channel, and enforced until they reset', async () => {
    const clock = createFakeClock();
    await trial.open({ limits: {}, clock });
    const answers: Response[] = [];
    for (let n = 0; n < 7; n++) answers.push(await post(String(n)));
    expect(answers.map(({ status, headers }) => `${status} ${headers.get('x-ratelimit-remaining')}`)).toEqual([
      '200 4',
      '200 3',
      '200 2',
      '200 1',
      '200 0',
      '429 null',
      '429 null',
    ]);
    expect(await answers[5]?.json()).toMatchObject({ retry_after: 5, global: false });
    expect(answers[5]?.headers.get('retry-after')).toBe('5');
    expect(trial.server.offences.map(({ early }) => early)).toEqual([false, true]);
    clock.advance(5000);
    expect((await post('again')).status).toBe(200);
  });

  test('apply to a bot globally', async () => {
    await trial.open({ limits: { globalPerSecond: 2, buckets: {} }, clock: createFakeClock() });
    const answers = [await post('1'), await post('2'), await post('3')];
    expect(answers.map(({ status }) => status).at(-1)).toBe(429);
    expect(answers.at(-1)?.headers.get('x-ratelimit-global')).toBe('true');
  });

  test('are respected by the real client library', async () => {
    await trial.open({ limits: {}, timeScale: 100 });
    const rest = restOf();
    for (let n = 0; n < 12; n++) await rest.post(route(), { body: { content: String(n) } });
    expect([texts().length, trial.server.offences]).toEqual([12, []]);
  });
});

describe('faults', () => {
  test('cut requests before or after their effect, for the operations that the test names', async () => {
    const rest = restOf({ rejectOnRateLimit: ['/channels'] });
    trial.server.failNext(/^create_message$/, 'cut before', 'cut after', { status: 502, when: 'after' }, { retryAfterS: 7 });
    const outcomes = [];
    for (let n = 0; n < 5; n++)
      outcomes.push(
        await rest.post(route(), { body: { content: String(n) } }).then(
          () => 'sent',
          (error: unknown) => (error instanceof RateLimitError ? '429' : 'failed'),
        ),
      );
    expect([outcomes, texts()]).toEqual([
      ['failed', 'failed', 'failed', '429', 'sent'],
      ['1', '2', '4'],
    ]);
    const sent = trial.server.calls.filter(({ operation }) => operation === 'create_message');
    expect(sent.map(({ isAnswered, made }) => [isAnswered, made.length])).toEqual([
      [false, 0],
      [false, 1],
      [false, 1],
      [false, 0],
      [true, 1],
    ]);
  });

  test('occur at random, and a message with a nonce is created once', async () => {
    const shares = { cutBefore: 0.1, cutAfter: 0.2, errorBefore: 0.1, errorAfter: 0.1 };
    trial.server.fault = randomFaults(createRandom(4), shares);
    const rest = restOf();
    for (let n = 0; n < 20; n++) {
      const body = { content: `m${n}`, nonce: `n${n}`, enforce_nonce: true };
      while ((await refusalOf(rest.post(route(), { body }))) !== null);
    }
    expect(texts()).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`));
  });
});
