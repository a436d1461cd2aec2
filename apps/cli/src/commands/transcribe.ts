import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Transcription } from '@svc/contract/speech.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { checkFile } from '../check-file.ts';
import { coreUrl } from '../core-url.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askSpeech } from '../service-client.ts';
import { print, visible } from '../terminal.ts';

export type TranscribeOptions = { mime?: string; model?: string; language?: string; json?: boolean };

/** Prints what is said in a clip. */
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

/** The core sees by the first bytes what it is. */
const clipHeaders = { 'content-type': 'application/octet-stream' };
