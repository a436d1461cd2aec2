import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { chromiumArguments, chromiumProgram, whyNoChromium } from '@svc/testing/chromium.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

/** A real Chromium with an empty profile. The test has to close it. */
async function openBrowser(): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const folder = temporaryFolder();
  const context = await chromium.launchPersistentContext(folder.path, {
    executablePath: chromiumProgram,
    headless: true,
    acceptDownloads: true,
    args: [...chromiumArguments],
  });
  return {
    context,
    async close() {
      await context.close();
      folder.remove();
    },
  };
}

const why = whyNoChromium();

describe.skipIf(why !== null)(`[U15] an uploaded file in a real browser${skipNote(why)}`, () => {
  const folder = temporaryFolder();
  const told: string[] = [];
  const pages = new Map<string, { type: string; text: string }>();
  /** Another site: serves pages of the test, and records every script that ran. */
  const other = http.createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    if (request.url?.startsWith('/ran/') === true) told.push(request.url);
    response.writeHead(200, { 'content-type': page?.type ?? 'text/plain' }).end(page?.text ?? '');
  });
  const scriptFor = (name: string) => `new Image().src = '${otherUrl()}/ran/${name}';`;
  const otherUrl = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}`;

  let core: Awaited<ReturnType<typeof startCore>>;
  let url: string;
  let context: BrowserContext;
  let close: () => Promise<void>;
  const hostile = () => [
    { name: 'page.html', mime: 'text/html', text: `<!doctype html><body><script>${scriptFor('html')}</script>` },
    { name: 'old.xhtml', mime: 'application/xhtml+xml', text: xhtml(scriptFor('xhtml')) },
    { name: 'drawing.svg', mime: 'image/svg+xml', text: svg(scriptFor('svg')) },
    { name: 'drawing.xml', mime: 'text/xml', text: svg(scriptFor('xml')) },
    { name: 'nothing', mime: 'application/octet-stream', text: `<!doctype html><script>${scriptFor('guessed')}</script>` },
  ];

  beforeAll(async () => {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const [one, manager, collector] = (await freePorts(3)) as [number, number, number];
    core = await startCore(folder.path, { core: one, manager, collector });
    url = `http://127.0.0.1:${one}`;
    ({ context, close } = await openBrowser());
  });
  afterAll(async () => {
    await close();
    core.child.kill('SIGKILL');
    await core.exited;
    other.close();
    folder.remove();
  });

  async function upload({ name, mime, text }: { name: string; mime: string; text: string }): Promise<string> {
    const answer = await fetch(`${url}/v2/upload?filename=${name}&mime=${encodeURIComponent(mime)}`, {
      method: 'POST',
      body: text,
    });
    expect(answer.status).toBe(200);
    const { files } = (await (await fetch(`${url}/v2/uploads`)).json()) as { files: ManifestEntry[] };
    return `${url}/v2/uploads/${files[0]?.id}/file`;
  }

  /** Gives scripts time to run: opens another page and waits for the request that its script makes. */
  async function settle(page: Page): Promise<void> {
    pages.set('/settled', { type: 'text/html', text: `<script>${scriptFor('settled')}</script>` });
    await page.goto(`${otherUrl()}/settled`);
    await expect.poll(() => told.includes('/ran/settled')).toBe(true);
  }

  test('runs its script when a careless server serves it', async () => {
    const page = await context.newPage();
    for (const [index, { mime, text }] of hostile().slice(0, 4).entries()) {
      pages.set(`/careless/${index}`, { type: mime, text });
      await page.goto(`${otherUrl()}/careless/${index}`);
    }
    await expect.poll(() => told.toSorted()).toEqual(['/ran/html', '/ran/svg', '/ran/xhtml', '/ran/xml']);
    await page.close();
  });

  test('is downloaded when it is opened, and runs no script', async () => {
    for (const file of hostile()) {
      const address = await upload(file);
      told.length = 0;
      const page = await context.newPage();
      const answered = page.waitForResponse(address);
      const downloading = page.waitForEvent('download');
      await page.goto(address).catch((error: unknown) => expect(String(error)).toMatch(/Download is starting|ERR_ABORTED/));
      const download = await downloading;
      expect(download.suggestedFilename()).toMatch(new RegExp(`^${file.name.split('.')[0] ?? ''}`));
      expect(readFileSync(await download.path(), 'utf8')).toBe(file.text);
      expect((await answered).headers()).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'content-disposition': expect.stringMatching(/^attachment/),
      });
      await settle(page);
      expect(told, file.name).toEqual(['/ran/settled']);
      await page.close();
    }
  });

  test('runs no script when a page of another site embeds it', async () => {
    for (const file of hostile()) {
      const address = await upload(file);
      told.length = 0;
      const embeds = `<iframe src="${address}"></iframe><object data="${address}"></object><embed src="${address}">`;
      const text = `<!doctype html>${embeds}<img src="${address}"><script src="${address}"></script>`;
      pages.set(`/embeds/${file.name}`, { type: 'text/html', text });
      const page = await context.newPage();
      await page.goto(`${otherUrl()}/embeds/${file.name}`, { waitUntil: 'load' });
      await settle(page);
      expect(told, file.name).toEqual(['/ran/settled']);
      await page.close();
    }
  });

  test('[H04] a page of another site cannot send a file, recording, silo file or backup here', async () => {
    const uploaded = async () => ((await (await fetch(`${url}/v2/uploads`)).json()) as { files: unknown[] }).files.length;
    const headers = { 'content-type': 'application/json' };
    const made = await fetch(`${url}/v2/silos`, { method: 'POST', headers, body: '{"name":"own","min_trust":"SACRED"}' });
    const { silo } = (await made.json()) as { silo: { id: string } };
    const before = await uploaded();
    const places = [
      '/v2/upload?filename=evil.txt',
      '/v2/recordings?filename=evil.ogg&mime=audio/ogg',
      `/v2/silos/${silo.id}/file?path=evil`,
      '/v2/backups/import',
      '/v2/backups',
    ].map((place) => `${url}${place}`);
    const script = `Promise.allSettled(${JSON.stringify(places)}.map((to) => fetch(to, { method: 'POST', body: 'evil', mode: 'no-cors' })))
      .then(() => { ${scriptFor('sent')} });`;
    pages.set('/sends', { type: 'text/html', text: `<!doctype html><script>${script}</script>` });
    told.length = 0;
    const page = await context.newPage();
    const refused: number[] = [];
    page.on('response', (response) => void (response.url().startsWith(url) && refused.push(response.status())));
    await page.goto(`${otherUrl()}/sends`);
    await expect.poll(() => told).toEqual(['/ran/sent']);
    const form = `<form method="post" enctype="text/plain" action="${places[0]}"><input name="evil"></form>`;
    pages.set('/form', { type: 'text/html', text: `<!doctype html>${form}<script>document.forms[0].submit();</script>` });
    const answered = page.waitForResponse((response) => response.url() === places[0]);
    await page.goto(`${otherUrl()}/form`);
    expect((await answered).status()).toBe(403);
    expect(refused).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await uploaded()).toBe(before);
    expect(await (await fetch(`${url}/v2/silos/${silo.id}`)).json()).toMatchObject({ files: 0 });
    expect(await (await fetch(`${url}/v2/backups`)).json()).toMatchObject({ backups: [], restore: null });
    await page.close();
  });
});

const svg = (script: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script><![CDATA[${script}]]></script></svg>`;
const xhtml = (script: string) =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><script><![CDATA[${script}]]></script></body></html>`;
