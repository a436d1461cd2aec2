import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pin as claude } from '../engines/claude/src/pin.ts';
import { pin as codex } from '../engines/codex/src/pin.ts';
import { settingList } from '@svc/service-kit/config/setting-list.ts';
import { read, root } from './repository.ts';

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'bench/README.md',
];

describe.each(pages)('%s', (page) => {
  const text = read(page);

  test('links to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))).toEqual([]);
  });

  test('names files and folders that exist', () => {
    const named = [...text.matchAll(/`((?:apps|packages|connectors|engines|scripts|test|bench|docs)\/[\w./-]+)`/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.filter((file) => !file.includes('…') && !existsSync(path.join(root, file)))).toEqual([]);
  });

  test('names settings that exist', () => {
    const named = [...text.matchAll(/\bSVC_[A-Z_]+[A-Z]\b/g)].map((match) => match[0]);
    expect(named.filter((name) => !(name in settingList))).toEqual([]);
  });
});

test('the engines page names the versions the service is tested with', () => {
  expect(read('docs/engines.md')).toContain(`${claude.package}@${claude.version}`);
  expect(read('docs/engines.md')).toContain(`${codex.package}@${codex.version}`);
});
