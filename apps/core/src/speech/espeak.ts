import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { speechFault } from './endpoint-fault.ts';
import { checkFormat } from './formats.ts';
import type { SpokenAudio, Utterance } from './provider.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const programName = 'espeak-ng';
const maxErrorBytes = 2048;

/** The path of the program, or null when it is not on the search path. */
export async function findEspeak(env: Env): Promise<string | null> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  for (const folder of folders) {
    const program = path.join(folder, programName);
    if (await isProgram(program)) return program;
  }
  return null;
}

/**
 * Speech by `espeak-ng` on this machine, as a wave file that claims to be endless. The text is passed over stdin; the child lives no longer
 * than the audio is read, and at most `timeoutMs`.
 */
export async function speakEspeak(
  { program, env, timeoutMs }: { program: string; env: Env; timeoutMs: number },
  { text, voice, format }: Utterance,
  signal: AbortSignal,
): Promise<SpokenAudio> {
  checkFormat(programName, format ?? 'wav', ['wav']);
  const args = ['--stdin', '--stdout', '-b', '1', ...(voice === null ? [] : ['-v', voice])];
  const child = spawn(program, args, {
    // The program needs nothing else from the environment.
    env: { PATH: env['PATH'], LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = endOf(child);
  child.stdin.on('error', () => undefined); // it ended before it had read all; its exit code shows that
  child.stdin.end(plain(text));
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await chunks.next();
  if (first.done !== true) return { mime: 'audio/wav', body: toStream(child, first.value, chunks, ended) };
  throw signal.aborted ? badRequest('The caller left.') : failure(await ended, voice);
}

type End = { code: number | null; said: string };

function endOf(child: Child): Promise<End> {
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said = (said + part).slice(0, maxErrorBytes)));
  return new Promise((resolve) => {
    child.on('error', (error) => (said ||= error.message));
    child.on('close', (code) => resolve({ code, said }));
  });
}

/** Ends with an error when the child failed, so that partial speech does not pass as complete. */
function toStream(child: Child, first: Buffer, rest: AsyncIterator<Buffer>, ended: Promise<End>): Readable {
  async function* whole() {
    try {
      yield first;
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
      const { code } = await ended;
      if (code !== 0) throw failure({ code, said: '' }, null);
    } finally {
      child.kill('SIGKILL');
    }
  }
  return Readable.from(whole(), { objectMode: false });
}

function failure({ code, said }: End, voice: string | null) {
  if (voice !== null && /voice/i.test(said)) {
    return speechFault('bad_voice', `${programName} has no voice "${voice}". "espeak-ng --voices" lists those it has.`);
  }
  const how = code === null ? 'was ended, because it took too long' : `ended with code ${code}`;
  return speechFault('endpoint_down', `${programName} ${how}. Try again, or set SVC_TTS_PROVIDER to another provider.`);
}

/** Double brackets would be read as phonemes, and control characters end the reading. */
const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, ' ').replaceAll('[[', '[ [');

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false; // not there, which is normal
  }
}
