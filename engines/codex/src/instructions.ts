import type { EngineRequest, Instructions } from '@svc/engine-kit/engine.ts';
import type { OwnerInstructions } from './owner-instructions.ts';

/** The persona; the owner's own instructions come with the owner's full rights alone. */
export const instructionsText = async (
  { system, facts, toolPolicy }: EngineRequest,
  owner: OwnerInstructions,
): Promise<string> =>
  facts.tier === 'SACRED' && toolPolicy === 'full' ? [system, await owner.read()].filter(Boolean).join('\n\n') : system;

/** What a turn tells the model, and what the program adds to it. */
export async function readInstructions(request: EngineRequest, owner: OwnerInstructions): Promise<Instructions> {
  const { toolPolicy, trustedFolder } = request;
  const added = ['Before the message, up to 1 KB: the working folder, the shell, the date and what it may read.'];
  if (toolPolicy === 'full')
    added.push(`AGENTS.md of the folder${trustedFolder ? ', and its settings, because you trust it' : ''}.`);
  return { text: await instructionsText(request, owner), added: toolPolicy === 'none' ? [] : added };
}
