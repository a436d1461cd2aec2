import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Silo } from '@svc/contract/silo.ts';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { fakeAudio } from '@svc/testing/speech-server/fake-audio.ts';
import { type SpeechServer, startSpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { go } from './dashboard/go.ts';
import { type Dashboard, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { countRecorded, openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const hasEspeak = existsSync('/usr/bin/espeak-ng');
const chunkBytes = 1024 * 1024;

/** Files and clips between the browser and the service. */
describe.skipIf(why !== null)(`files and speech in the dashboard${skipNote(why)}`, () => {
  const folder = temporaryFolder();
  let speech: SpeechServer;
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    speech = await startSpeechServer();
    browser = await openBrowser(['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'], 'dashboard');
    dashboard = await openDashboard({
      SVC_UPLOAD_CHUNK_SIZE: String(chunkBytes),
      SVC_STT_BASE_URL: `${speech.url}/v1`,
    });
    context = await browser.newContext({ permissions: ['microphone'], serviceWorkers: 'block' });
    page = await context.newPage();
    faults = watch(page);
    await signUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
    await speech?.close();
    folder.remove();
  });
  const open = (section: string) => page.goto(`${dashboard.url}/settings/${section}`);
  const fromCore = <T>(route: string) => dashboard.house.get<T>(dashboard.house.urls.core + route);
  const uploads = async () => (await fromCore<{ files: ManifestEntry[] }>('/v2/uploads')).files;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  const file = (name: string, content: string | Buffer): string => {
    const place = path.join(folder.path, name);
    writeFileSync(place, content);
    return place;
  };
  const saved = async (name: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent('download'), button(`Download ${name}`).click()]);
    expect(download.suggestedFilename()).toBe(name);
    return readFileSync(await download.path());
  };

  test('[29] an interrupted upload of a large file resumes with the missing chunks after a reload', async () => {
    const content = Buffer.alloc(5 * chunkBytes + 17, 'large file ');
    const place = file('large.bin', content);
    const chunks: string[] = [];
    page.on(
      'request',
      (request) => request.method() === 'PUT' && chunks.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''),
    );
    await open('files');
    await page.getByText('No files yet.').waitFor();
    await page.route('**/core/v2/upload/*/3', (route) => route.abort());
    await page.getByLabel('Files to send').setInputFiles(place);
    await page.getByText(/large\.bin did not arrive/).waitFor();
    expect(chunks).toEqual(['0', '1', '2', '3']);
    expect(await uploads()).toEqual([]);
    await page.unroute('**/core/v2/upload/*/3');
    await page.reload();
    await button('Send files').waitFor();
    await page.getByLabel('Files to send').setInputFiles(place);
    await page.getByText('large.bin is uploaded.').waitFor();
    expect(chunks).toEqual(['0', '1', '2', '3', '3', '4', '5']);
    expect(await uploads()).toMatchObject([{ name: 'large.bin', bytes: content.length }]);
    expect(content.equals(await saved('large.bin'))).toBe(true);
    expect(faults.filter((fault) => !/ERR_FAILED/.test(fault))).toEqual([]);
  });

  test('[33] HTML and SVG files are downloaded unchanged and never rendered', async () => {
    const html = '<title>bad</title><script>globalThis.hit = 1</script>';
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.hit = 1</script></svg>';
    await open('files');
    const files = [file('page.html', html), file('drawing.svg', svg), file('notes.txt', 'plain')];
    await page.getByLabel('Files to send').setInputFiles(files);
    await page.getByText('notes.txt is uploaded.').waitFor();
    expect((await uploads()).find(({ name }) => name === 'notes.txt')?.mime).toBe('text/plain');
    expect(String(await saved('page.html'))).toBe(html);
    expect(String(await saved('drawing.svg'))).toBe(svg);
    expect(context.pages()).toHaveLength(1);
    expect(await page.evaluate('globalThis.hit')).toBeUndefined();
    const { id } = (await uploads()).find(({ name }) => name === 'page.html') ?? { id: '' };
    const policy = await page.evaluate(
      `fetch('/core/v2/uploads/${id}/file', { headers: { 'x-session-token': localStorage.getItem('svc-session-token') } })
        .then(({ headers }) => [headers.get('content-disposition'), headers.get('content-security-policy')])`,
    );
    expect(policy).toEqual([expect.stringMatching(/^attachment;/), expect.stringMatching(/default-src 'none';.*sandbox/)]);
    // A visitor who is led to its address brings the cookie and no token.
    const led = await context.newPage();
    const answer = await led.goto(`${dashboard.url}/core/v2/uploads/${id}/file`);
    expect(answer?.status()).toBe(401);
    expect(await led.evaluate('globalThis.hit')).toBeUndefined();
    await led.close();
    expect(faults.filter((fault) => !/ERR_FAILED/.test(fault))).toEqual([]);
  });

  test('filters files by name and kind, also from the URL, and deletes one after a confirmation', async () => {
    await open('files?text=PAGE');
    await page.getByRole('rowheader', { name: 'page.html' }).waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(1);
    await page.getByLabel('Kind').selectOption('image');
    await page.getByText('No file matches.').waitFor();
    await page.getByLabel('Name or conversation').fill('');
    await page.getByRole('rowheader', { name: 'drawing.svg' }).waitFor();
    expect(new URL(page.url()).search).toBe('?kind=image');
    await button('Delete drawing.svg').click();
    await inDialog('Delete file').click();
    await page.getByText('No file matches.').waitFor();
    expect((await uploads()).map(({ name }) => name)).not.toContain('drawing.svg');
  });

  test('makes a silo, stores, downloads and deletes a file in it, and removes the silo with another file', async () => {
    const silos = async () => (await fromCore<{ silos: Silo[] }>('/v2/silos')).silos;
    await open('files');
    await button('Make a silo').click();
    await inDialog('Make silo').click();
    await page.getByText('This field is required.').first().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('letters');
    await page.getByLabel('Minimum trust').selectOption('SACRED');
    await inDialog('Make silo').click();
    await button('Open letters').click();
    const store = async (place: string, content: string) => {
      await page.getByLabel('File', { exact: true }).setInputFiles(file(path.basename(place), content));
      await page.getByLabel('Path in the silo').fill(place);
      await inDialog('Store file').click();
      await page.getByRole('dialog').getByText(place, { exact: true }).waitFor();
    };
    await store('last/will.txt', 'to my cat');
    expect(await silos()).toMatchObject([{ name: 'letters', min_trust: 'SACRED', files: 1, bytes: 9 }]);
    expect(String(await saved('will.txt'))).toBe('to my cat');
    await button('Delete last/will.txt').click();
    await inDialog('Delete file').click();
    await page.getByText('There is no file in it.').waitFor();
    await store('note.txt', 'buy fish');
    const stored = path.join(dashboard.house.folder, 'silos', (await silos())[0]?.id ?? '');
    expect(readdirSync(stored)).toHaveLength(1);
    await page.keyboard.press('Escape');
    await button('Remove letters').click();
    await page.getByRole('dialog').getByText('1 file in it, 8 B').waitFor();
    await inDialog('Remove silo').click();
    await button('Open letters').waitFor({ state: 'detached' });
    expect(await silos()).toEqual([]);
    expect(existsSync(stored)).toBe(false);
  });

  test('speech: shows which keys are missing, plays a sentence, and transcribes uploaded and recorded clips', async () => {
    await open('speech');
    await page.getByText('OPENAI_API_KEY').first().waitFor();
    if (hasEspeak) {
      await page.getByLabel('Sentence').fill('One, two.');
      await button('Say it').click();
      await page.locator('audio').waitFor();
      const state = "(({ currentTime, error }) => [currentTime > 0, error])(document.querySelector('audio'))";
      await expect.poll(() => page.evaluate(state), { timeout: 20_000 }).toEqual([true, null]);
    }
    await page.getByLabel('Clip').setInputFiles(file('note.ogg', fakeAudio('opus', 'water the plants')));
    await page.getByText('water the plants').waitFor();
    await page.evaluate(countRecorded);
    await button('Record a clip').click();
    await expect.poll(() => page.evaluate('recorded')).toBeGreaterThan(0);
    await button('Stop recording').click();
    await page.getByText('no words').waitFor();
    expect(speech.requests.map(({ file: clip }) => clip?.name.split('.').at(-1))).toEqual(['ogg', 'webm']);
    expect(faults.filter((fault) => !/ERR_FAILED|401/.test(fault))).toEqual([]);
  });

  test('a microphone that the browser allows only after the screen was left is released, and is asked for once', async () => {
    await open('speech');
    await page.evaluate(`{
      const { mediaDevices } = navigator;
      const given = mediaDevices.getUserMedia.bind(mediaDevices);
      globalThis.streams = [];
      const allowed = new Promise((allow) => (globalThis.allow = allow));
      mediaDevices.getUserMedia = async (wanted) => {
        const stream = await given(wanted);
        streams.push(stream);
        await allowed;
        return stream;
      };
    }`);
    await button('Record a clip').click();
    await expect.poll(() => page.evaluate('streams.length')).toBe(1);
    await button('Record a clip').click();
    await go(page, '/settings/account');
    await page.evaluate('allow()');
    const states = 'streams.flatMap((stream) => stream.getTracks().map(({ readyState }) => readyState))';
    await expect.poll(() => page.evaluate(states)).toEqual(['ended']);
  });
});
