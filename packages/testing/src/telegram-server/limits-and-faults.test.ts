import { InputFile } from 'grammy';
import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock } from '../fake-clock.ts';
import { createRandom } from '../random.ts';
import { randomFaults } from './telegram-faults.ts';
import { refusalOf, textsIn, useTrial } from './use-trial.ts';

const trial = useTrial();

describe('faults', () => {
  test('cut requests before or after their effect, for the methods that the test names', async () => {
    trial.server.failNext(/^sendMessage$/, 'cut before', 'cut after', { status: 502, when: 'before' }, { retryAfterS: 7 });
    const send = (text: string) => refusalOf(trial.api.sendMessage(trial.ann.id, text));
    const answers = [await send('1'), await send('2'), await send('3'), await send('4'), await send('5')];
    expect(answers.map((answer) => /HttpError|429|null/.exec(answer)?.[0])).toEqual([
      'HttpError',
      'HttpError',
      'HttpError',
      '429',
      'null',
    ]);
    expect(textsIn(trial.server, trial.ann.id)).toEqual(['2', '5']);
    expect(trial.server.calls.map(({ status, isAnswered }) => [status, isAnswered])).toEqual([
      [null, false],
      [200, false],
      [null, false],
      [null, false],
      [200, true],
    ]);
  });

  test('occur at random from a seed', async () => {
    const shares = { cutBefore: 0.1, errorBefore: 0.1, tooMany: 0.1 };
    trial.server.fault = randomFaults(createRandom(3), shares);
    const answers: string[] = [];
    for (let n = 0; n < 40; n++) answers.push(await refusalOf(trial.api.sendMessage(trial.ann.id, String(n))));
    const kinds = Map.groupBy(answers, (answer) => /null|HttpError|429/.exec(answer)?.[0] ?? answer);
    expect([...kinds.keys()].toSorted()).toEqual(['429', 'HttpError', 'null']);
    expect(textsIn(trial.server, trial.ann.id)).toHaveLength(kinds.get('null')?.length ?? 0);
  });
});

describe('limits', () => {
  const clock = createFakeClock();
  beforeEach(async () => {
    await trial.open({ limits: { slackMs: 0 }, clock });
  });
  const send = (chat: number) =>
    refusalOf(trial.api.sendMessage(chat, 'x')).then((answer) => /null|retry after \d+/.exec(answer)?.[0]);

  test('allow a short burst, then one message per second and chat, with penalties', async () => {
    const sent = [
      await send(trial.ann.id),
      await send(trial.ann.id),
      await send(trial.ann.id),
      await send(trial.ann.id),
      await send(trial.ann.id),
    ];
    expect(sent).toEqual(['null', 'null', 'null', 'retry after 3', 'retry after 6']);
    clock.advance(5999);
    expect(await send(trial.ann.id)).toBe('retry after 12');
    clock.advance(12_000);
    expect(await send(trial.ann.id)).toBe('null');
    expect(trial.server.offences.map(({ limit }) => limit)).toEqual(['chat', 'penalty', 'penalty']);
  });

  test('allow 20 messages per minute and group, including edits and parts of albums', async () => {
    const { id } = trial.server.group('Family', [trial.ann]);
    const { message_id } = await trial.api.sendMessage(id, 'x');
    for (let n = 0; n < 18; n++) {
      clock.advance(1000);
      await trial.api.editMessageText(id, message_id, String(n));
    }
    clock.advance(1000);
    const album = ['1', '2'].map((name) => ({ type: 'photo' as const, media: new InputFile(Buffer.from('x'), name) }));
    expect(await refusalOf(trial.api.sendMediaGroup(id, album))).toMatch('retry after 41');
    clock.advance(42_000);
    expect(await send(id)).toBe('null');
  });

  test('allow 30 messages per second in total', async () => {
    const chats = Array.from({ length: 31 }, (_, n) => trial.server.person(`P${n}`).id);
    const sent = await Promise.all(chats.map(send));
    expect(sent.filter((answer) => answer === 'null')).toHaveLength(30);
    expect(trial.server.offences).toMatchObject([{ limit: 'bot' }]);
  });

  test('expire sooner when time is scaled', async () => {
    await trial.open({ limits: { slackMs: 0 }, timeScale: 20, clock });
    for (let n = 0; n < 3; n++) await send(trial.ann.id);
    const error: unknown = await trial.api.sendMessage(trial.ann.id, 'x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ parameters: { retry_after: 0.15 } });
    clock.advance(150);
    expect(await send(trial.ann.id)).toBe('null');
  });
});
