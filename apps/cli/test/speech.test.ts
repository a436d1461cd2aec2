import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { startSpeechServer, type SpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
const inFolder = (name: string) => path.join(folder.path, name);
let server: SpeechServer;
let core: Awaited<ReturnType<typeof startCore>>;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  server = await startSpeechServer();
  const [corePort, manager, collector] = (await freePorts(3)) as [number, number, number];
  env = {
    PATH: process.env['PATH'],
    HOME: folder.path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_DATA_DIR: folder.path,
    SVC_CORE_PORT: String(corePort),
  };
  const speech = { SVC_TTS_BASE_URL: `${server.url}/v1`, SVC_STT_BASE_URL: `${server.url}/v1` };
  core = await startCore(folder.path, { core: corePort, manager, collector }, speech);
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.exited;
  await server.close();
  folder.remove();
});

async function svc(...args: string[]): Promise<{ code: number | null; out: Buffer; err: string }> {
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/cli/src/main.ts'), ...args], { env });
  const out: Buffer[] = [];
  let err = '';
  child.stdout.on('data', (part: Buffer) => out.push(part));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out: Buffer.concat(out), err };
}

test('speaks into a file, and transcribes that file', async () => {
  const spoken = await svc('speak', 'good', 'morning', '-o', inFolder('a.flac'), '--voice', 'nova');
  expect(spoken, spoken.err).toMatchObject({ code: 0, err: expect.stringContaining('audio/flac') as string });
  expect(server.requests[0]?.fields).toMatchObject({ input: 'good morning', voice: 'nova', response_format: 'flac' });
  const heard = await svc('transcribe', inFolder('a.flac'));
  expect(heard, heard.err).toMatchObject({ code: 0, out: Buffer.from('good morning\n') });
  const facts = await svc('transcribe', inFolder('a.flac'), '--language', 'en', '--json');
  expect(JSON.parse(facts.out.toString())).toMatchObject({ ok: true, text: 'good morning', language: 'en', provider: 'openai' });
});

test('writes the audio to a pipe', async () => {
  const { code, out } = await svc('speak', 'hello', '--format', 'wav');
  expect(code).toBe(0);
  expect(out.toString('latin1', 0, 4)).toBe('RIFF');
});

test('reports a refusal, and leaves no file', async () => {
  const spoken = await svc('speak', 'hello', '-o', inFolder('b.mp3'), '--voice', 'nobody');
  expect(spoken.code).toBe(1);
  expect(spoken.err).toContain('no such voice');
  expect(existsSync(inFolder('b.mp3'))).toBe(false);
  writeFileSync(inFolder('note.txt'), 'not a clip');
  const heard = await svc('transcribe', inFolder('note.txt'));
  expect(heard.code).toBe(1);
  expect(heard.err).toContain('not audio that can be transcribed');
  expect(readFileSync(inFolder('note.txt'), 'utf8')).toBe('not a clip');
});
