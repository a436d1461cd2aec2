import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';

/** Sets variables in the `.env` file of a folder, in place of earlier lines that set them. The file is its owner's alone afterwards. */
export function writeEnv(root: string, values: Readonly<Record<string, string>>): string {
  const file = path.join(root, '.env');
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const kept = before.split('\n').filter((line) => !Object.keys(values).some((name) => line.trimStart().startsWith(`${name}=`)));
  while (kept.at(-1) === '') kept.pop();
  const lines = [...kept, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)];
  writeFileAtomic(file, `${lines.join('\n')}\n`);
  return file;
}
