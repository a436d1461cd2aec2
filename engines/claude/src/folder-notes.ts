import path from 'node:path';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { readText } from '@svc/engine-kit/read-beginning.ts';

/** In characters, each of at most four bytes. */
const maxNotes = 40_000;
const maxBytes = 4 * maxNotes;

/**
 * The instructions of a folder that is not trusted. In one that is, the program reads them itself, together with settings that
 * could start something.
 */
export async function readFolderNotes({ toolPolicy, trustedFolder, cwd }: EngineRequest): Promise<string> {
  if (toolPolicy !== 'full' || trustedFolder) return '';
  for (const name of ['CLAUDE.md', 'AGENTS.md']) {
    const text = await readText(path.join(cwd, name), maxBytes); // most folders have none
    if (text !== '') return `\n\nNotes of this folder (${name}):\n${cutText(text, maxNotes)}`;
  }
  return '';
}
