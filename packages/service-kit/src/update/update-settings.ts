import { dataPaths } from '../config/data-dir.ts';
import { writeFileAtomic } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';

/** `stable`: the newest release. `edge`: the newest commit of the main branch. */
export type UpdateChannel = 'stable' | 'edge';

/** The operator's choice, with `svc update --channel` or over the API. */
export type UpdateSettings = {
  channel: UpdateChannel | null;
  /** Whether a new version is installed automatically. */
  auto: boolean;
};

/** A missing or damaged file counts as empty. */
export function readUpdateSettings(dataDir: string): UpdateSettings {
  const found = readJsonFile(dataPaths(dataDir).updateSettings) ?? {};
  const { channel, auto } = found as Partial<Record<keyof UpdateSettings, unknown>>;
  return { channel: channel === 'stable' || channel === 'edge' ? channel : null, auto: auto === true };
}

export function changeUpdateSettings(dataDir: string, change: Partial<UpdateSettings>): UpdateSettings {
  const settings = { ...readUpdateSettings(dataDir), ...change };
  writeFileAtomic(dataPaths(dataDir).updateSettings, `${JSON.stringify(settings, null, 2)}\n`);
  return settings;
}

/** The effective channel: SVC_UPDATE_CHANNEL, else the chosen one, else `stable`. */
export const channelOf = (setting: UpdateChannel | null, dataDir: string): UpdateChannel =>
  setting ?? readUpdateSettings(dataDir).channel ?? 'stable';
