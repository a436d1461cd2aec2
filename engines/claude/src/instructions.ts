import path from 'node:path';
import type { EngineRequest, Instructions } from '@svc/engine-kit/engine.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { readText } from '@svc/engine-kit/read-beginning.ts';

/** Limit in characters, each of at most four bytes. */
const maxNotes = 40_000;
const maxBytes = 4 * maxNotes;

/**
 * The instructions of a folder that is not trusted. In a trusted folder, the program reads them itself, along with settings that could
 * start programs.
 */
export async function readFolderNotes({ toolPolicy, trustedFolder, cwd }: EngineRequest): Promise<string> {
  if (toolPolicy !== 'full' || trustedFolder) return '';
  for (const name of ['CLAUDE.md', 'AGENTS.md']) {
    const text = await readText(path.join(cwd, name), maxBytes); // most folders have none
    if (text !== '') return `\n\nNotes of this folder (${name}):\n${cutText(text, maxNotes)}`;
  }
  return '';
}

/** The persona, instead of the vendor's much longer manual for a terminal; the tools document themselves. */
export const instructionsText = ({ toolPolicy, system, cwd }: EngineRequest, notes: string): string =>
  toolPolicy === 'none' ? system : `${system}\n\nYour tools work in the folder ${cwd}.${notes}`;

/** The instructions of a turn, and what the program adds to them. */
export async function readInstructions(request: EngineRequest): Promise<Instructions> {
  const { toolPolicy, facts, trustedFolder } = request;
  const isFull = toolPolicy === 'full';
  return {
    text: instructionsText(request, await readFolderNotes(request)),
    added: [
      `Before it: "You are a Claude agent, built on Anthropic's Claude Agent SDK."`,
      'After the message, about 1 KB: the working folder, the system, the date, the model and how to handle downloaded files.',
      ...(isFull ? ["About 8 KB more: the program's own agents and skills, and how to sign commits."] : []),
      ...(isFull && facts.tier === 'SACRED' ? ['Your own CLAUDE.md, skills and settings of ~/.claude.'] : []),
      ...(trustedFolder ? ['CLAUDE.md, skills and settings of the folder, because you trust it.'] : []),
    ],
  };
}
