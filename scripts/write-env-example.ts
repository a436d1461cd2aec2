import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { settingList, type SettingInfo } from '../packages/service-kit/src/config/setting-list.ts';

/** The text of `.env.example`: every setting with its default, under the process that reads it. */
export function envExample(settings: Readonly<Record<string, SettingInfo>> = settingList): string {
  const groups = Map.groupBy(Object.entries(settings), ([, { group }]) => group);
  const parts = [...groups].map(
    ([group, entries]) => `# ---- ${group} ----\n\n${entries.map(([name, info]) => entry(name, info)).join('\n')}`,
  );
  return `${head}\n${parts.join('\n')}`;
}

const head = `# Settings of the service. Copy this file to .env and remove the "#" before what you change.
# A variable of the environment wins over the file. Written by scripts/write-env-example.ts from
# packages/service-kit/src/config/setting-list.ts.
`;

const entry = (name: string, { text, default: fallback }: SettingInfo): string => `# ${text}\n#${name}=${fallback ?? ''}\n`;

if (import.meta.main) writeFileSync(path.resolve(import.meta.dirname, '../.env.example'), envExample());
