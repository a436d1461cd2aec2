import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { loadSettings, settingList } from '@svc/service-kit/config/settings.ts';
import { envExample } from '../scripts/write-env-example.ts';

const root = path.resolve(import.meta.dirname, '..');
const file = readFileSync(path.join(root, '.env.example'), 'utf8');

test('.env.example matches the declared settings (node scripts/write-env-example.ts)', () => {
  expect(file).toBe(envExample());
});

test('.env.example names every setting once and sets none', () => {
  const names = [...file.matchAll(/^#([A-Z_]+)=/gm)].map((match) => match[1]);
  expect(names).toEqual([...settingList.keys()]);
  expect(parseEnv(file)).toEqual({});
});

test('the defaults in .env.example are usable', () => {
  const uncommented = file.replaceAll(/^#([A-Z_]+=.+)$/gm, '$1');
  expect(() => loadSettings(root, parseEnv(uncommented))).not.toThrow();
});
