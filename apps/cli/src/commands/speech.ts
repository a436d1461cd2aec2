import { createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { speechFormats, type Transcription } from '@svc/contract/speech.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { checkFile, checkFolderOf } from '../check-file.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askSpeech } from '../service-client.ts';
import { createStyle, print, printError, visible } from '../terminal.ts';

export type SpeakOptions = { output?: string; voice?: string; model?: string; format?: string };

/** Converts text to speech, into a file or a pipe. */
export async function speak(text: string, { output, voice, model, format }: SpeakOptions): Promise<number> {
  if (output === undefined && process.stdout.isTTY) {
    throw new CliError('a terminal cannot show sound.', {
      why: 'Name a file with -o, or give it to a player.',
      run: `./svc speak -o speech.wav ${JSON.stringify(text)}`,
    });
  }
  if (output !== undefined) checkFolderOf(output);
  const body = { text, voice, model, format: format ?? formatOfName(output) };
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/tts`;
  const audio = await askSpeech(url, { body }, 'nothing was spoken.');
  if (output === undefined) {
    await pipeline(audio, process.stdout, { end: false });
    return exitCodes.ok;
  }
  await pipeline(audio, createWriteStream(output)).catch(async (error: unknown) => {
    await rm(output, { force: true }); // half a speech would pass for a whole one
    throw error;
  });
  printError(`${createStyle(process.stderr).green('Spoken')} into ${output} (${audio.headers['content-type']})`);
  return exitCodes.ok;
}

/** `speech.mp3` requests mp3; any other extension leaves the format to the provider. */
function formatOfName(output: string | undefined): string | undefined {
  const ending = path
    .extname(output ?? '')
    .slice(1)
    .toLowerCase();
  return speechFormats.find((format) => format === (ending === 'ogg' ? 'opus' : ending));
}

export type TranscribeOptions = { mime?: string; model?: string; language?: string; json?: boolean };

/** Prints the transcript of an audio clip. */
export async function transcribe(file: string, { mime, model, language, json }: TranscribeOptions): Promise<number> {
  checkFile(file);
  const url = new URL('/v2/transcribe', coreUrl(loadSettings(repositoryRoot)));
  for (const [name, value] of Object.entries({ mime, model, language })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const answer = await askSpeech(url.href, { json: await readFile(file), headers: clipHeaders }, 'nothing was transcribed.');
  const found = JSON.parse(await text(answer)) as Transcription; // the status said that it is one (contract of the core)
  if (json === true) print(JSON.stringify(found, null, 2));
  else print(process.stdout.isTTY ? visible(found.text) : found.text);
  return exitCodes.ok;
}

/** The core detects the type by the first bytes. */
const clipHeaders = { 'content-type': 'application/octet-stream' };
