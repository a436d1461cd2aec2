import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { settingsOf, type Declared, type Setting } from '../packages/service-kit/src/config/setting.ts';
import { settingGroups } from '../packages/service-kit/src/config/settings.ts';

/** The text of `.env.example`: every setting with its default, under the heading of its group. */
export function envExample(groups: Readonly<Record<string, Declared>> = settingGroups): string {
  const parts = Object.entries(groups).map(
    ([group, declared]) => `# ---- ${group} ----\n\n${settingsOf(declared).map(entry).join('\n')}`,
  );
  return `${head}\n${parts.join('\n')}`;
}

const head = `# Settings of the service. Copy this file to .env and remove the "#" before what you change.
# A variable of the environment wins over the file. Written by scripts/write-env-example.ts from
# packages/service-kit/src/config/declared/.
`;

const entry = ({ name, text, default: fallback }: Setting<unknown>): string => `# ${text}\n#${name}=${fallback ?? ''}\n`;

if (import.meta.main) writeFileSync(path.resolve(import.meta.dirname, '../.env.example'), envExample());
