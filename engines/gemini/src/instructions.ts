import path from 'node:path';
import type { EngineRequest, Instructions } from '@svc/engine-kit/engine.ts';
import { readText } from '@svc/engine-kit/read-beginning.ts';

/** Limit in bytes. */
const maxNotes = 160_000;

/** The owner's own instructions, only for the owner. */
export async function readOwnerNotes(
  { toolPolicy, facts }: EngineRequest,
  ownerHome: string | undefined,
): Promise<string | null> {
  if (toolPolicy !== 'full' || facts.tier !== 'SACRED' || ownerHome === undefined) return null;
  return (await readText(path.join(ownerHome, '.gemini/GEMINI.md'), maxNotes)) || null; // most have none
}

/** The instructions of a turn, and what the program adds to them. */
export async function readInstructions(request: EngineRequest, ownerHome: string | undefined): Promise<Instructions> {
  const notes = await readOwnerNotes(request, ownerHome);
  return {
    text: request.system,
    added: [
      'Before the message, about 0.4 KB: that this is the Gemini CLI, the date, the system and a temporary folder.',
      ...(notes === null ? [] : [`Your own notes of ~/.gemini/GEMINI.md (${Buffer.byteLength(notes)} bytes).`]),
      ...(request.toolPolicy === 'none' ? [] : ['GEMINI.md of the folder.']),
    ],
  };
}
