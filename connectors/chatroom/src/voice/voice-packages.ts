import { createRequire } from 'node:module';
import path from 'node:path';
import type * as discordVoice from '@discordjs/voice';
import type OpusScript from 'opusscript';

/** The voice libraries. They are not a dependency: they are installed for an instance with voice, and loaded when it first joins. */
export type VoicePackages = { voice: typeof discordVoice; Opus: typeof OpusScript };

/** @throws when one of them is missing from the folder, or broken */
export function loadVoicePackages(folder: string): VoicePackages {
  const load = createRequire(path.join(folder, 'any.js'));
  // The casts: each package's own types say what it exports.
  return { voice: load('@discordjs/voice') as typeof discordVoice, Opus: load('opusscript') as typeof OpusScript };
}
