import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { speechFormats } from '@svc/contract/speech.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { checkFolderOf } from '../check-file.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../core-url.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askSpeech } from '../service-client.ts';
import { createStyle, printError } from '../terminal.ts';

export type SpeakOptions = { output?: string; voice?: string; model?: string; format?: string };

/** Has a text spoken, into a file or a pipe. */
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

/** `speech.mp3` asks for mp3; an ending that is no format leaves it to the provider. */
function formatOfName(output: string | undefined): string | undefined {
  const ending = path
    .extname(output ?? '')
    .slice(1)
    .toLowerCase();
  return speechFormats.find((format) => format === (ending === 'ogg' ? 'opus' : ending));
}
