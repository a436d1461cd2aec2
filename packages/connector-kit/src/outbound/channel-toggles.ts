import path from 'node:path';
import { writeFileAtomic, readIfThere } from '@svc/service-kit/files.ts';

/** Which channels of an instance relay to the core, as the operator chose, over restarts. */
export type ChannelToggles = { isEnabled(channelId: string): boolean; set(channelId: string, enabled: boolean): void };

/** Keeps the choices in the instance's folder. A channel nobody chose for is as `byDefault` says. */
export function openChannelToggles(dataDir: string, byDefault = true): ChannelToggles {
  const file = path.join(dataDir, 'channels.json');
  const chosen = readChoices(file);
  return {
    isEnabled: (channelId) => chosen.get(channelId) ?? byDefault,
    set(channelId, enabled) {
      // Written first: a choice that cannot be kept is refused rather than forgotten.
      writeFileAtomic(file, JSON.stringify(Object.fromEntries([...chosen, [channelId, enabled]])));
      chosen.set(channelId, enabled);
    },
  };
}

/** A file that is no list of choices is refused: going on without it would relay what was switched off. */
function readChoices(file: string): Map<string, boolean> {
  const text = readIfThere(file);
  if (text === null) return new Map();
  try {
    const choices = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(choices.map(([id, enabled]) => [id, enabled === true]));
  } catch (error) {
    throw new Error(`${file} cannot be read. Correct it, or move it away to reset every channel to its default.`, {
      cause: error,
    });
  }
}
