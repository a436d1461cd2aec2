import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../listen.ts';
import { readRequest } from './read-call.ts';
import { refusalOf, useTrial } from './use-trial.ts';

const trial = useTrial();

describe('updates', () => {
  test('are kept until they are confirmed, also by a negative offset', async () => {
    for (const text of ['a', 'b', 'c']) trial.server.say({ from: trial.ann, text });
    const texts = async (offset?: number) => (await trial.api.getUpdates({ offset })).map(({ message }) => message?.text);
    expect([await texts(), await texts()]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    const [first] = await trial.api.getUpdates();
    expect(await texts((first?.update_id ?? 0) + 1)).toEqual(['b', 'c']);
    expect(await texts(-1)).toEqual(['c']);
    expect(await texts()).toEqual(['c']);
  });

  test('are waited for by one poll at a time', async () => {
    const before = trial.api.getUpdates({ timeout: 20 });
    const refused = refusalOf(before);
    await expect.poll(() => trial.server.calls.length).toBe(1);
    const after = trial.api.getUpdates({ timeout: 20 });
    expect(await refused).toBe(
      '409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    );
    trial.server.say({ from: trial.ann, text: 'now' });
    expect(await after).toMatchObject([{ message: { text: 'now' } }]);
  });

  test('are only of the allowed kinds', async () => {
    await trial.api.getUpdates({ allowed_updates: ['message_reaction'] });
    const said = trial.server.say({ from: trial.ann, text: 'unwanted' });
    trial.server.react(said, trial.ann, '🔥');
    trial.server.react(said, trial.ann);
    const updates = await trial.api.getUpdates();
    expect(updates).toMatchObject([
      { message_reaction: { user: trial.ann, old_reaction: [], new_reaction: [{ emoji: '🔥' }] } },
      { message_reaction: { new_reaction: [] } },
    ]);
  });

  test('can be duplicated and out of order', async () => {
    await trial.open({ updateFaults: { random: () => 0, twice: 1, outOfOrder: 1 } });
    for (const text of ['a', 'b']) trial.server.say({ from: trial.ann, text });
    const texts = async (offset?: number) => (await trial.api.getUpdates({ offset })).map(({ message }) => message?.text);
    expect(await texts()).toEqual(['b', 'b', 'a', 'a']);
  });
});

describe('webhook', () => {
  type Brought = { secret: string | undefined; text: string | undefined };

  /** A bot's server, which answers with the given statuses, then with 200. */
  async function openHook(...statuses: number[]) {
    const brought: Brought[] = [];
    const take = async (request: IncomingMessage, response: ServerResponse) => {
      const { body } = await readRequest(request);
      const { message } = JSON.parse(body.toString()) as { message?: { text?: string } };
      brought.push({ secret: request.headers['x-telegram-bot-api-secret-token']?.toString(), text: message?.text });
      response.writeHead(statuses.shift() ?? 200).end();
    };
    const hook = await listen(http.createServer((request, response) => void take(request, response)));
    onTestFinished(() => hook.close());
    return { url: `${hook.url}/tg`, brought };
  }

  test('delivers updates in order with its secret, and retries each until it is accepted', async () => {
    const { url, brought } = await openHook(500, 200, 404);
    trial.server.say({ from: trial.ann, text: 'before' });
    await trial.api.setWebhook(url, { secret_token: 'a-Secret_1' });
    trial.server.say({ from: trial.ann, text: 'after' });
    const secret = 'a-Secret_1';
    const texts = ['before', 'before', 'after', 'after'];
    await expect.poll(() => brought).toEqual(texts.map((text) => ({ secret, text })));
    await expect
      .poll(() => trial.api.getWebhookInfo())
      .toMatchObject({
        url,
        pending_update_count: 0,
        last_error_message: 'Wrong response from the webhook: 404',
      });
  });

  test('replaces polls, and can be removed with its pending updates', async () => {
    await trial.api.setWebhook('http://127.0.0.1:9/tg');
    trial.server.say({ from: trial.ann, text: 'nobody takes it' });
    expect(await refusalOf(trial.api.getUpdates())).toMatch("409 Conflict: can't use getUpdates method while webhook is active");
    await expect.poll(() => trial.api.getWebhookInfo()).toMatchObject({ last_error_message: 'Connection refused' });
    await trial.api.deleteWebhook({ drop_pending_updates: true });
    expect([await trial.api.getUpdates(), (await trial.api.getWebhookInfo()).url]).toEqual([[], '']);
  });

  test('requires an HTTPS URL and a valid secret', async () => {
    expect(await refusalOf(trial.api.setWebhook('http://bot.example/tg'))).toMatch('An HTTPS URL must be provided for webhook');
    expect(await refusalOf(trial.api.setWebhook('https://bot.example/tg', { secret_token: 'ä b' }))).toMatch(
      'unallowed characters',
    );
  });
});
