import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { startSpeechServer, type SpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { countRecorded, openBrowser, whyNoBrowser } from './device-app/browser.ts';
import { openRealGateway, type OpenDevice, type RealGateway } from './device-app/real-gateway.ts';

const espeak = '/usr/bin/espeak-ng';
const why = whyNoBrowser() ?? (existsSync(espeak) ? null : `there is no ${espeak}`);

/** The microphone of Chromium plays a spoken file in a loop; answers are real speech, too. Only the provider of speech is a stand-in. */
describe.skipIf(why !== null)(`speaking with a device${skipNote(why)}`, () => {
  const folder = temporaryFolder();
  let speech: SpeechServer;
  let gateway: RealGateway;
  let browser: Browser;
  let device: OpenDevice;
  let spoken: Buffer;

  beforeAll(async () => {
    spoken = say('Noon.', path.join(folder.path, 'answer.wav'), 0);
    const question = path.join(folder.path, 'question.wav');
    say('What time is it?', question, 2500);
    speech = await startSpeechServer();
    gateway = await openRealGateway({ SVC_TTS_BASE_URL: `${speech.url}/v1`, SVC_STT_BASE_URL: `${speech.url}/v1` });
    browser = await openBrowser([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${question}`,
      '--autoplay-policy=no-user-gesture-required',
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await gateway.house.stop();
    await speech.close();
    folder.remove();
  });
  beforeEach(async () => {
    speech.requests.length = 0;
    device = await gateway.openDevice(browser, 'Phone', { permissions: ['microphone'] });
  });
  afterEach(async () => {
    await device.page.context().close();
    expect(device.faults).toEqual([]);
  });

  const askedFor = (what: string) => speech.requests.filter((request) => request.path.endsWith(what));
  const hears = (text: string) => speech.next({ status: 200, json: { text } });
  const reads = (sentences: number) =>
    speech.next(...Array.from({ length: sentences }, () => ({ status: 200 as const, mime: 'audio/mpeg', audio: spoken })));
  const lastReply = (page: Page) => page.locator('.reply').last().innerText();

  test('sends what is spoken as a message, and reads the answer aloud sentence by sentence', async () => {
    const { page } = device;
    await page.evaluate(countRecorded);
    hears('echo It is noon. You have time.');
    reads(2);
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    const finish = page.getByRole('button', { name: 'Finish speaking' });
    await finish.waitFor();
    await expect.poll(() => page.evaluate('globalThis.recorded')).toBeGreaterThan(4000);
    await finish.click();
    await expect.poll(() => lastReply(page)).toContain('It is noon. You have time.');
    await expect.poll(() => askedFor('/speech').map(({ fields }) => fields['input'])).toEqual(['It is noon.', 'You have time.']);
    const [clip] = askedFor('/transcriptions');
    expect(clip?.file?.bytes.length).toBeGreaterThan(2000);
    expect(clip?.file?.bytes.subarray(0, 4).toString('hex')).toBe('1a45dfa3'); // WebM, as the browser recorded it
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor();
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor({ state: 'detached' });
    expect(await page.locator('.fault').count()).toBe(0);
  });

  test('hands free, silence ends the recording, and listening resumes after the answer', async () => {
    const { page } = device;
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel(/hands.free/i).check();
    await page.keyboard.press('Escape');
    hears('echo Noon.');
    reads(1);
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await expect.poll(() => askedFor('/transcriptions').length).toBe(1);
    hears('stop');
    await expect.poll(() => lastReply(page)).toContain('Noon.');
    await page.getByRole('button', { name: 'Finish speaking' }).waitFor();
    await expect.poll(() => askedFor('/transcriptions').length).toBe(2);
    expect(await page.locator('.said').count()).toBe(1);
  });

  test('starting to speak stops reading aloud', async () => {
    const { page } = device;
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Read answers aloud').check();
    await page.keyboard.press('Escape');
    reads(1);
    const long = say(
      'This takes a long time to be read aloud, so that there is time to interrupt it.',
      path.join(folder.path, 'long.wav'),
      4000,
    );
    speech.next({ status: 200, mime: 'audio/mpeg', audio: long });
    await page.getByLabel('Message', { exact: true }).fill('echo First. Second, which takes long.');
    await page.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(() => askedFor('/speech').length).toBe(2);
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor();
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor({ state: 'detached' });
  });

  test('starting to speak stops the running turn', async () => {
    const { page } = device;
    await page.getByLabel('Message', { exact: true }).fill('wait 60 never');
    await page.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(() => page.getByText('Thinking').count()).toBe(1);
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await expect.poll(() => page.getByText('Stopped.').count()).toBe(1);
  });
});

/** A WAV file of a sentence, followed by silence. */
function say(text: string, file: string, silenceMs: number): Buffer {
  execFileSync(espeak, ['-w', file, text]);
  const wav = readFileSync(file);
  const rate = wav.readUInt32LE(24);
  const samples = Buffer.concat([wav.subarray(44), Buffer.alloc(2 * Math.floor((rate * silenceMs) / 1000))]);
  const head = Buffer.from(wav.subarray(0, 44));
  head.writeUInt32LE(36 + samples.length, 4);
  head.writeUInt32LE(samples.length, 40);
  const whole = Buffer.concat([head, samples]);
  writeFileSync(file, whole);
  return whole;
}
