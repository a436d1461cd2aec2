import { dataPaths } from '../config/data-dir.ts';
import { writeFileAtomic } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';

/** `stable`: the newest release. `edge`: the newest commit of the main branch. */
export type UpdateChannel = 'stable' | 'edge';

/** What the operator chose with `svc update --channel` or over the API. */
export type UpdateSettings = {
  channel: UpdateChannel | null;
  /** Whether what is found is installed without being asked for. */
  auto: boolean;
};

/** A file that is not there or damaged is one that says nothing. */
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

/** The channel that counts: SVC_UPDATE_CHANNEL over what was chosen, `stable` without either. */
export const channelOf = (setting: UpdateChannel | null, dataDir: string): UpdateChannel =>
  setting ?? readUpdateSettings(dataDir).channel ?? 'stable';
