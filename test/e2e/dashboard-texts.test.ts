import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { foreignTexts, markdownTexts } from '../fixtures/foreign-texts.ts';
import { root } from '../repository.ts';
import { refuseAnswers, replaceAnswers } from './dashboard/foreign-answers.ts';
import { go, openScreen } from './dashboard/go.ts';
import { type Dashboard, isLive, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { routes, screensWith } from './dashboard/screens.ts';
import { type Attacks, watchAttacks } from './dashboard/watch-attacks.ts';
import { openBrowser, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const texts = foreignTexts.map((text) => text.toWellFormed());
/** The number of turns that a page shows at once. */
const turnsAtOnce = 40;
const workers = 8;
const session = '/sessions/compat%3Acompat%3Asession%3A0';
const screens = screensWith(session);
/** Buttons that open dialogs with more foreign texts. */
const dialogs: Record<string, string[]> = {
  '/people': ['Let in', 'Invite a person'],
  '/channels': ['Logs', 'Remove', 'Add channel'],
};

/** Texts of strangers, models and tools are shown in full and do nothing: no script, no request, no other page. */
describe.skipIf(why !== null)(`hostile texts in the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let attacks: Attacks;

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard({ SVC_OFFLINE_SCRIPT: path.join(root, 'test/fixtures/foreign-engine.ts') });
    page = await browser.newPage({ deviceScaleFactor: 0.1, serviceWorkers: 'block' });
    attacks = await watchAttacks(page, dashboard.url);
    await signUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  const core = () => dashboard.house.urls.core;
  const post = async (url: string, body: object) => (await dashboard.house.post<{ message?: string }>(core() + url, body)).body;
  const say = (text: string, key: string) =>
    post('/v2/handle', { channel: 'compat', conversation_key: key, sender: { raw_id: 'owner' }, content: { text } });
  /** Expects that each text is visible in one of these places. */
  const seen = async (wanted: readonly string[], place: string, read = bare) => {
    const places = `[...document.querySelectorAll(${JSON.stringify(place)})]`;
    const shown = read(await page.evaluate<string>(`${places}.map(({ textContent }) => textContent).join('\\n')`));
    expect(
      wanted.filter((text) => !shown.includes(read(text))),
      place,
    ).toEqual([]);
  };
  const load = (place: string) => page.goto(dashboard.url + place);
  const open = (place: string) => openScreen(page, dashboard, place);
  const nothingHappened = async () => expect([...attacks.found, ...(await attacks.look())]).toEqual([]);

  test('[30] are shown as text in messages, thoughts, tools, results and replies', async () => {
    // High enough to render a complete conversation.
    await page.setViewportSize({ width: 1280, height: 30_000 });
    for (let from = 0; from < texts.length; from += turnsAtOnce) {
      const group = texts.slice(from, from + turnsAtOnce);
      const key = `compat:compat:session:${from}`;
      await say('hello', key);
      await open(`/sessions/${encodeURIComponent(key)}`);
      await isLive(page);
      // A thought is not stored: when one is shown, the page follows the stream.
      const follows = async () => (await say('hello', key), page.getByText('Thoughts').count());
      await expect.poll(follows).toBeGreaterThan(0);
      const before = await page.locator('.reply .below').count();
      await ofEach(group, (text) => say(text, key));
      await expect.poll(() => page.locator('.reply .below').count()).toBeGreaterThanOrEqual(before + group.length);
      await page.evaluate(openFolds);
      await nothingHappened();
      for (const place of ['.bubble', '.thoughts', '.steps b', '[aria-label=Output]']) await seen(group, place);
      const asJson = group.map((text) => JSON.stringify(text).slice(1, -1));
      await seen(asJson, '[aria-label=Input]');
      await seen(group.filter(isPlain), '.markdown', letters);
    }
  });

  test('[30] are shown as text in the reason of a failed turn', async () => {
    const key = 'compat:compat:session:failed';
    await say('hello', key);
    await open(`/sessions/${encodeURIComponent(key)}`);
    await page.locator('.said').waitFor();
    await ofEach(texts.slice(0, turnsAtOnce), (text) => say(`fail ${text}`, key));
    await expect.poll(() => page.locator('.reply .fault').count()).toBe(turnsAtOnce);
    await seen(texts.slice(0, turnsAtOnce), '.reply .fault');
    await nothingHappened();
  });

  test('[30] are shown as text in names of strangers and people, titles, events and search results', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await ofEach(texts, (text, index) =>
      post('/v2/handle', {
        channel: 'messenger',
        conversation_key: `messenger:m:user:${index}`,
        sender: { raw_id: `${index} ${text}`.slice(0, 256), raw_username: text.slice(0, 256) },
        content: { text },
      }),
    );
    const some = texts.filter((_, index) => index % 5 === 0);
    await ofEach(some, (text, index) => post('/trust/principals', { key: `p${index}`, display_name: text.slice(0, 80) }));
    const events = texts.map((text) => ({ kind: text, session: 's', surface: text, identity: text, principal: text, text }));
    await dashboard.house.post(`${dashboard.house.urls.collector}/ingest`, events);
    const places = ['/', '/sessions', '/people', '/activity', '/activity?tab=audit', '/search?q=hit', '/costs'];
    for (const place of places) {
      await open(place);
      await page.locator('.rows-list > li, .facts tbody tr, .events li').first().waitFor();
      await nothingHappened();
    }
    const { pending } = await dashboard.house.get<{ pending: PendingIdentity[] }>(`${core()}/trust/pending`);
    const { principals } = await dashboard.house.get<{ principals: Principal[] }>(`${core()}/trust/principals`);
    expect([pending.length, principals.length]).toEqual([texts.length, some.length + 1]);
    await open('/people');
    await page.locator('.rows-list > li').first().waitFor();
    await seen(
      pending.flatMap(({ name, value }) => [name ?? '', value]),
      'main',
    );
    await seen(
      principals.map(({ display_name: name }) => name),
      'main',
    );
  });

  test('[30] are shown as text on every screen, wherever the service returns them', async () => {
    const paths = routes().map((place) => new RegExp(`^${place.replaceAll(/\$\w+/g, '[^/?]+')}(?:\\?.*)?$`));
    expect(paths.filter((place) => !screens.some((screen) => place.test(screen)))).toEqual([]);

    const answers = await replaceAnswers(page, texts);
    onTestFinished(answers.end);
    await load('/');
    await page.locator('h1').waitFor();
    let shown = '';
    const look = async () => {
      await nothingHappened();
      shown += bare((await page.locator('body').textContent()) ?? '');
    };
    const opens = async (screen: string, sparesWords: boolean) => {
      await answers.setSparing(sparesWords);
      // Loading the page again drops cached answers with other words.
      await (sparesWords ? load(screen) : go(page, screen));
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('.skeleton').count(), { message: screen }).toBe(0);
      await look();
      return (await page.getByText('This screen has failed').count()) === 0;
    };
    for (const screen of screens) {
      expect((await opens(screen, false)) || (await opens(screen, true)), screen).toBe(true);
      for (const name of dialogs[screen] ?? []) {
        await page.getByRole('button', { name, exact: true }).first().click();
        await page.getByRole('dialog').waitFor();
        await look();
        await page.keyboard.press('Escape');
      }
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await look();
    expect(texts.filter((text) => !shown.includes(bare(text)))).toEqual([]);
  });

  test('[30] are shown as text in the reason of a refusal', async () => {
    const { end } = await refuseAnswers(page, dashboard.url, texts.join('\n'));
    onTestFinished(end);
    for (const screen of ['/', '/people', '/settings/engines', '/activity']) {
      await load(screen);
      await page.locator('.fault-box p, .rows-list p').first().waitFor();
      await seen(texts, '.fault-box p, .rows-list p');
      await nothingHappened();
    }
  });
});

/** Unfolds everything, also inside of unfolded parts. */
const openFolds = `(async () => {
  for (let round = 0; round < 100; round++) {
    const folded = document.querySelectorAll('.fold-line[aria-expanded=false]');
    if (folded.length === 0) return;
    for (const button of folded) button.click();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
})()`;

/** Runs `work` for each text, a few at a time. */
async function ofEach(all: readonly string[], work: (text: string, index: number) => Promise<unknown>): Promise<void> {
  const waiting = [...all.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** Without whitespace and invisible characters. */
const bare = (text: string): string => text.replaceAll(/[\s\p{C}]+/gu, '');
/** Markdown decodes HTML entities, so a text with one is not shown verbatim. */
const isPlain = (text: string): boolean => !text.includes('&') && !markdownTexts.includes(text);
/** The letters alone: Markdown does not show its markup. */
const letters = (text: string): string => text.replaceAll(/[^A-Za-z<>]+/g, '');
