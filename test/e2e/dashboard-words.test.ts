import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { type Dashboard, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { screensWith } from './dashboard/screens.ts';
import { watchWords } from './dashboard/words-left.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const own = '/sessions/web%3AAnna%3Amain';
const others = '/sessions/compat%3Acompat%3Asession%3A0';
/** Make the offline engine answer with everything that an engine can send. */
const messages = ['think of it', 'tool clock {}', 'echo `code`\n\n| a |\n| - |\n| b |', 'fail'];
const screens = [...new Set([...screensWith(own), ...screensWith(others)]), '/nothing/is/here'];

/** In the pseudo-language en-XA every translated text is in brackets: no text may be left outside of them. */
describe.skipIf(why !== null)(`translation of the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let words: Awaited<ReturnType<typeof watchWords>>;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext({ locale: 'en-XA', serviceWorkers: 'block' });
    words = await watchWords(context);
    page = await context.newPage();
    faults = watch(page);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });

  const handle = (body: object) => dashboard.house.post(`${dashboard.house.urls.core}/v2/handle`, body);
  const isThere = () => page.locator('.shell h1').waitFor();

  test('the login page and the set-up have no untranslated text', async () => {
    // Without a token the set-up says that its link has expired.
    for (const place of ['/setup', '/login', '/offline.html']) {
      await page.goto(dashboard.url + place);
      await page.locator('h1').waitFor();
      await words.look(page);
    }
    await setUp(page, dashboard, () => words.look(page));
    expect(words.left()).toEqual([]);
  });

  test('a conversation with every kind of content has no untranslated text', async () => {
    await handle({
      channel: 'messenger',
      conversation_key: 'messenger:m:user:1',
      sender: { raw_id: '1', raw_username: 'stranger' },
      content: { text: 'May I?' },
    });
    await page.goto(`${dashboard.url}/chat`);
    await isThere();
    for (const text of [...messages, 'ask Is it so? | It is | It is not']) {
      const before = await page.locator('.reply').count();
      await page.locator('.composer textarea').fill(text);
      await page.locator('.composer .send').click();
      await page.locator('.reply').nth(before).locator('.below, .fault, .question').first().waitFor();
      await words.look(page);
    }
    for (const text of messages)
      await handle({
        channel: 'compat',
        conversation_key: 'compat:compat:session:0',
        sender: { raw_id: 'owner' },
        content: { text },
      });
    await page.goto(`${dashboard.url}/chat`);
    await isThere();
    await page.locator('.fold-line').first().click();
    await page.keyboard.press('Control+f');
    await page.locator('.find input').fill('think');
    await words.look(page);
    expect(words.left()).toEqual([]);
  });

  describe('screens, without any effect of their buttons', () => {
    beforeAll(() => words.refuseChanges());

    test.each(screens)('%s and the dialogs it opens have no untranslated text', async (screen) => {
      await page.goto(dashboard.url + screen);
      await words.lookAtScreen(page);
      const pressed = new Set<string>();
      for (let next = await press(page, 0, pressed); next !== null; next = await press(page, next.at + 1, pressed)) {
        pressed.add(next.name);
        await words.lookAtScreen(page);
        await page.evaluate(closeDialog);
      }
      expect(words.left()).toEqual([]);
    });
  });

  test('the palette and the list of keys have no untranslated text', async () => {
    await page.goto(dashboard.url);
    await isThere();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('x');
    await page.getByRole('option').first().waitFor();
    await words.look(page);
    await page.evaluate(closeDialog);
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.locator('.key-list').waitFor();
    await words.look(page);
    expect(words.left()).toEqual([]);
    expect(faults).toEqual([]);
  });
});

/** Presses the first button, from an index on, whose text was not pressed yet; null when there is none. */
const press = (page: Page, from: number, pressed: ReadonlySet<string>): Promise<{ at: number; name: string } | null> =>
  page.evaluate(`(() => {
    const isSeen = (button) => button.checkVisibility({ visibilityProperty: true }) && button.getBoundingClientRect().width > 0;
    const buttons = [...document.querySelectorAll('main button:enabled:not([role=tab])')].filter(isSeen);
    for (let at = ${from}; at < buttons.length; at++) {
      const name = buttons[at].innerText || String(at);
      if (${JSON.stringify([...pressed])}.includes(name)) continue;
      buttons[at].click();
      return { at, name };
    }
    return null;
  })()`);

const closeDialog = "[...document.querySelectorAll('dialog[open] > header button')].at(-1)?.click()";
