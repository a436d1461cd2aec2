import type { EngineRequest, Instructions } from '@svc/engine-kit/engine.ts';
import { readFolderNotes } from './folder-notes.ts';

/** The persona instead of the vendor's manual for a terminal, many times as long; the tools explain themselves. */
export const instructionsText = ({ toolPolicy, system, cwd }: EngineRequest, notes: string): string =>
  toolPolicy === 'none' ? system : `${system}\n\nYour tools work in the folder ${cwd}.${notes}`;

/** What a turn tells the model, and what the program adds to it. */
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
