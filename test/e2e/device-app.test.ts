import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { isLive, openBrowser, openPaired, say, watch, watchStatus, whyNoBrowser } from './device-app/browser.ts';
import { type ScriptedGateway, startScriptedGateway } from './device-app/scripted-gateway.ts';

const why = whyNoBrowser();

/** The numbers are those of the study of the dashboard. */
describe.skipIf(why !== null)(`the app of a device${skipNote(why)}`, () => {
  let browser: Browser;
  let gateway: ScriptedGateway;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startScriptedGateway();
    // `device-app-network.test.ts` tests the service worker; installing it for each test takes a tenth of the time.
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
    ({ page, faults } = await openPaired(context, gateway));
  });
  afterEach(async () => {
    expect(faults).toEqual([]);
    await context.close();
    gateway.close();
  });

  const replies = () => page.locator('.reply');
  /** Frames of a turn of this device, up to but not with its end. */
  const begin = (turnId: string, messageId: unknown, text = 'hello') =>
    gateway.send('inject', {
      turn_id: turnId,
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: messageId,
      text,
      attachments: [],
    });
  const end = (turnId: string, text: string, outcome: string | null = 'replied', more = {}) =>
    gateway.send('done', { turn_id: turnId, outcome, text, ...more });
  const turnsAsked = () => gateway.calls.filter(({ path }) => path === '/gw/turn');

  test('pairs by a link, removes the code from the URL, and explains why a wrong code is refused', async () => {
    expect(page.url()).toBe(`${gateway.url}/`);
    const other = await browser.newContext({ serviceWorkers: 'block' });
    const stranger = await other.newPage();
    faults.push(...watch(stranger));
    await stranger.goto(`${gateway.url}/#pair=wrong`);
    await expect.poll(() => stranger.getByRole('alert').textContent()).toMatch(/invalid, used or older than ten minutes/);
    await stranger.getByLabel('Link or code').fill(`${gateway.url}/#pair=right`);
    await stranger.getByRole('button', { name: 'Pair device' }).click();
    await isLive(stranger);
    await other.close();
  });

  test('[16] shows a reply as it streams, and keeps all of it through cuts of the stream and a reload', async () => {
    gateway.script.onTurn = (turnId, { body }) => {
      begin(turnId, body['message_id'], String(body['text']));
      gateway.send('thinking', { turn_id: turnId, text: 'let me see' });
      gateway.send('tool', { turn_id: turnId, id: 'x', name: 'read_file', input: { path: '/etc/hosts' } });
      gateway.cut();
      gateway.send('tool_result', { turn_id: turnId, id: 'x', ok: true, output: 'localhost' });
      gateway.send('delta', { turn_id: turnId, text: 'It says **local' });
      gateway.cut();
      gateway.send('delta', { turn_id: turnId, text: 'host**.' });
      end(turnId, 'It says **localhost**.');
    };
    await say(page, 'read it');
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('It says localhost.');
    expect(await page.locator('.said').count()).toBe(1);
    await replies().getByRole('button', { name: '1 step' }).click();
    await replies()
      .getByRole('button', { name: /read_file/ })
      .click();
    expect(await replies().getByLabel('Output').textContent()).toBe('localhost');
    gateway.script.history = [said('t1', 'm1', 'read it'), answered('t1', 'It says **localhost**.')];
    await page.reload();
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('It says localhost.');
    expect(await page.locator('.said').count()).toBe(1);
  });

  test('[15] keeps a message sent while the gateway is away, also over a reload, and delivers it once', async () => {
    gateway.script.before = ({ path }) => (path === '/gw/turn' ? 'cut' : undefined);
    await say(page, 'remember the milk');
    await expect.poll(() => page.locator('.said .below').textContent()).toMatch(/Waiting for the connection/);
    await page.reload();
    await expect.poll(() => page.locator('.bubble').textContent()).toBe('remember the milk');
    // The answer of the first that arrives is lost: it is sent again, as the same message.
    let lost = 0;
    gateway.script.before = ({ path, body }) => {
      if (path !== '/gw/turn' || lost > 0) return undefined;
      lost += 1;
      begin('t1', body['message_id'], 'remember the milk');
      return 'cut';
    };
    await context.setOffline(true);
    await context.setOffline(false);
    await expect.poll(() => turnsAsked().length).toBeGreaterThan(3);
    end('t1', 'Noted.');
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('Noted.');
    expect(new Set(turnsAsked().map(({ body }) => body['message_id'])).size).toBe(1);
    expect(await page.locator('.said').count()).toBe(1);
  });

  test('says why a message was refused, and lets the person edit it', async () => {
    gateway.script.before = ({ path }) =>
      path === '/gw/turn' ? { status: 413, body: { error: { message: 'The message is too long.' } } } : undefined;
    await say(page, 'too long');
    await expect.poll(() => page.locator('.said .below').textContent()).toMatch(/Not sent. The message is too long/);
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('too long');
    expect(await page.locator('.said').count()).toBe(0);
  });

  test('a message edited in one tab cannot be sent again from another, and does not block later ones', async () => {
    gateway.script.before = ({ path }) =>
      path === '/gw/turn' ? { status: 413, body: { error: { message: 'The message is too long.' } } } : undefined;
    await say(page, 'too long');
    const again = (shown: Page) => shown.getByRole('button', { name: 'Send again' });
    await again(page).waitFor();
    const second = await context.newPage();
    faults.push(...watch(second));
    await second.goto(gateway.url);
    await again(second).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('too long');
    await again(second).click();
    await expect.poll(() => second.locator('.said').count()).toBe(0);
    gateway.script.before = () => undefined;
    await say(page, 'shorter');
    await expect.poll(() => turnsAsked().at(-1)?.body['text']).toBe('shorter');
  });

  test('a corrupt entry in the outbox does not block later messages', async () => {
    await page.evaluate(`new Promise((resolve) => {
      const opened = indexedDB.open('svc-outbox-device');
      opened.onupgradeneeded = () => opened.result.createObjectStore('messages');
      opened.onsuccess = () => {
        const change = opened.result.transaction('messages', 'readwrite');
        change.objectStore('messages').put({ refused: null }, '!');
        change.oncomplete = () => (opened.result.close(), resolve(0));
      };
    })`);
    await page.reload();
    await say(page, 'hello');
    await expect.poll(() => turnsAsked().at(-1)?.body['text']).toBe('hello');
  });

  test('[14] keeps a draft and sends a message written while the device was revoked once it is paired again', async () => {
    gateway.script.before = ({ path }) =>
      path === '/gw/pair' ? undefined : { status: 401, body: { error: { message: 'revoked' } } };
    gateway.cut();
    await expect.poll(() => page.locator('.link').textContent()).toBe('Signed out');
    await say(page, 'still here?');
    await expect.poll(() => page.locator('.bubble').textContent()).toBe('still here?');
    await page.getByLabel('Message', { exact: true }).fill('half a thought');
    gateway.script.before = () => undefined;
    await page.getByRole('button', { name: 'Pair again' }).click();
    await page.getByLabel('Link or code').fill('right');
    await page.getByRole('button', { name: 'Pair device' }).click();
    await expect.poll(() => turnsAsked().filter(({ body }) => body['text'] === 'still here?').length).toBeGreaterThan(0);
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
  });

  test('[26] stops a turn, and shows silent, failed and retracted replies as such', async () => {
    gateway.script.onTurn = (turnId, { body }) => begin(turnId, body['message_id']);
    await say(page, 'one');
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await expect.poll(() => gateway.calls.some(({ path }) => path === '/gw/stop')).toBe(true);
    end('t1', '', 'aborted');
    await expect.poll(() => replies().nth(0).textContent()).toMatch(/Stopped\./);
    await say(page, 'two');
    await expect.poll(() => turnsAsked().length).toBe(2);
    end('t2', '', 'silent');
    await expect.poll(() => replies().nth(1).textContent()).toMatch(/No reply\./);
    await say(page, 'three');
    await expect.poll(() => turnsAsked().length).toBe(3);
    gateway.send('delta', { turn_id: 't3', text: 'wrong words' });
    gateway.send('retract', { turn_id: 't3' });
    end('t3', '', null, { error: { code: 'engine_failed', message: 'The engine ended.' } });
    await expect.poll(() => replies().nth(2).textContent()).toMatch(/The engine ended\./);
    expect(await replies().nth(2).textContent()).not.toMatch(/wrong words/);
  });

  test('shows a question of the engine, and answers with the button that is pressed', async () => {
    const options = [
      { id: 'y', label: 'Allow', style: 'primary' },
      { id: 'n', label: 'Do not allow', style: 'danger' },
    ];
    begin('t1', null);
    gateway.send('ask', {
      turn_id: 't1',
      ask: { id: 'q1', text: 'Delete it?', options, for: 'p', expires_at: Date.now() + 60_000 },
    });
    await page.getByRole('button', { name: 'Do not allow' }).click();
    await expect.poll(() => gateway.calls.find(({ path }) => path === '/gw/answer')?.body).toEqual({ ask_id: 'q1', option: 'n' });
    gateway.send('asked', { turn_id: 't1', id: 'q1', answer: { option: 'n', outcome: 'answered' } });
    await expect.poll(() => page.locator('.question').textContent()).toMatch(/Answered: Do not allow/);
  });

  test('[18] reads the history again after a gap', async () => {
    gateway.script.history = [said('t1', 'm1', 'missed'), answered('t1', 'and answered')];
    gateway.send('gap', {});
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('and answered');
  });

  test('[18] reads everything that was missed after a gap, also when it is more than one page of the history', async () => {
    const turns = (many: number) =>
      Array.from({ length: many }, (_, index) => said(`t${index}`, `m${index}`, `question ${index}`, index + 1));
    const size = () => page.locator('article').first().getAttribute('aria-setsize');
    gateway.script.history = turns(60);
    gateway.send('gap', {});
    await expect.poll(size).toBe('50');
    gateway.script.history = turns(200);
    gateway.send('gap', {});
    await expect.poll(size).toBe('190');
  });

  test('[18] reads the history once more when a gap is reported while it is being read', async () => {
    let reads = 0;
    gateway.script.before = ({ path }) => {
      if (path !== '/gw/history' || reads++ > 0) return undefined;
      gateway.script.history = [said('t1', 'm1', 'missed'), answered('t1', 'and answered')];
      gateway.send('gap', {});
      return { status: 200, body: { messages: [], next: null } };
    };
    gateway.send('gap', {});
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('and answered');
  });

  test('[18] reads the history again when a stream is reopened without a position', async () => {
    gateway.script.history = [said('t1', 'm1', 'said without a stream'), answered('t1', 'and answered so')];
    gateway.cut();
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('and answered so');
  });

  test('[28] two tabs show one conversation over one stream, also after the first tab is closed', async () => {
    const second = await context.newPage();
    faults.push(...watch(second));
    await second.goto(gateway.url);
    await isLive(second);
    expect(gateway.streams.size).toBe(1);
    begin('t1', null, 'to both');
    gateway.send('delta', { turn_id: 't1', text: 'half ' });
    await expect.poll(() => second.locator('.markdown').textContent()).toMatch(/half/);
    const third = await context.newPage();
    await third.goto(gateway.url);
    await expect.poll(() => third.locator('.markdown').textContent()).toMatch(/half/);
    await third.close();
    await page.close();
    await expect.poll(() => gateway.streams.size).toBe(1);
    gateway.send('delta', { turn_id: 't1', text: 'and half' });
    await expect.poll(() => second.locator('.markdown').textContent()).toBe('half and half');
  });

  test('[30] shows hostile text as text, and sends no request for it', async () => {
    const asked: string[] = [];
    page.on('request', (request) => void (request.url().startsWith(gateway.url) || asked.push(request.url())));
    const hostile =
      '<script>alert(1)</script><img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) ![p](https://evil.example/p.png) <iframe src="https://evil.example">';
    begin('t1', null, hostile);
    gateway.send('tool', { turn_id: 't1', id: 'x', name: hostile, input: { [hostile]: hostile } });
    gateway.send('tool_result', { turn_id: 't1', id: 'x', ok: true, output: hostile });
    end('t1', hostile);
    await expect.poll(() => replies().locator('.markdown').textContent()).toMatch(/<script>alert\(1\)<\/script>/);
    expect(await page.locator('.transcript :is(script, img, iframe, [onerror])').count()).toBe(0);
    const links = await page
      .locator('.markdown a')
      .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
    expect(links).toEqual([['https://evil.example/p.png', 'noopener noreferrer']]);
    expect(asked).toEqual([]);
  });

  test('[36] makes two screen reader announcements in a turn, and none of its text', async () => {
    await page.evaluate(watchStatus);
    begin('t1', null);
    for (const text of ['one ', 'two ', 'three']) gateway.send('delta', { turn_id: 't1', text });
    await expect.poll(() => replies().locator('.markdown').textContent()).toBe('one two three');
    await expect.poll(() => page.evaluate('told')).toEqual(['Answer begins']);
    end('t1', 'one two three');
    await expect.poll(() => page.evaluate('told')).toEqual(['Answer begins', 'Answer ready']);
    begin('t2', null);
    end('t2', 'at once');
    await expect.poll(() => page.locator('.unseen[role=status]').textContent()).toBe('Answer ready');
    expect(await page.locator('.transcript[aria-live], .transcript [aria-live]').count()).toBe(0);
  });
});

const base = { sender: 'd_1', state: 'delivered', outcome: 'replied', attachments: [], tools: [] } as const;
const said = (turn_id: string, message_id: string, text: string, at = 1000) => ({
  ...base,
  attachments: [],
  tools: [],
  turn_id,
  message_id,
  role: 'user' as const,
  text,
  at,
});
const answered = (turn_id: string, text: string, at = 1001) => ({
  ...base,
  attachments: [],
  tools: [],
  turn_id,
  message_id: null,
  role: 'assistant' as const,
  text,
  at,
});
