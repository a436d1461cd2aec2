import path from 'node:path';
import { writeFileAtomic, readIfThere } from '@svc/service-kit/files.ts';

/** Which channels of an instance relay to the core, as the operator chose; kept across restarts. */
export type ChannelToggles = { isEnabled(channelId: string): boolean; set(channelId: string, enabled: boolean): void };

/** Stores the choices in the instance's folder. `byDefault` applies to a channel without a choice. */
export function openChannelToggles(dataDir: string, byDefault = true): ChannelToggles {
  const file = path.join(dataDir, 'channels.json');
  const chosen = readChoices(file);
  return {
    isEnabled: (channelId) => chosen.get(channelId) ?? byDefault,
    set(channelId, enabled) {
      // Stored first: a choice that cannot be stored is refused rather than forgotten.
      writeFileAtomic(file, JSON.stringify(Object.fromEntries([...chosen, [channelId, enabled]])));
      chosen.set(channelId, enabled);
    },
  };
}

/** An invalid file is refused: ignoring it would relay channels that were switched off. */
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
