import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pin as claude } from '../engines/claude/src/pin.ts';
import { pin as codex } from '../engines/codex/src/pin.ts';
import { pin as gemini } from '../engines/gemini/src/pin.ts';
import { errorCodes } from '@svc/contract/error-body.ts';
import { eventKinds } from '@svc/contract/event.ts';
import { outcomes } from '@svc/contract/turn.ts';
import { settingList } from '@svc/service-kit/config/settings.ts';
import { foldersOf, pages, read, root, sourcesOf, workspaces } from './repository.ts';

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
    expect(named.filter((name) => !settingList.has(name))).toEqual([]);
  });
});

test('the engines page names the versions the service is tested with', () => {
  expect(read('docs/engines.md')).toContain(`${claude.package}@${claude.version}`);
  expect(read('docs/engines.md')).toContain(`${codex.package}@${codex.version}`);
  expect(read('docs/engines.md')).toContain(`${gemini.package}@${gemini.version}`);
});

describe('the API page', () => {
  const page = read('docs/api.md');
  /** Parameters have other names in other places. */
  const shape = (route: string) => route.replaceAll(/:\w+/g, ':x');

  const routes = sourcesOf('apps/core/src').flatMap((file) =>
    [...read(file).matchAll(/\bapp\.\w+(?:<[^(]*>)?\(\s*'(\/[^']+)'/g)].map((match) => shape(match[1] ?? '')),
  );
  const named = [...page.matchAll(/(?<!\w)(\/(?:v2|trust|query|events)\b[\w/:-]*)/g)].map((match) => shape(match[1] ?? ''));

  test('names every route of the core, and none that does not exist', () => {
    expect(routes.length).toBeGreaterThan(20);
    expect(new Set(named)).toEqual(new Set(routes));
  });

  test('names every outcome, event kind and error code', () => {
    // The engines page and the messages themselves say what an engine's own codes mean.
    const words = [...outcomes, ...eventKinds, ...errorCodes.filter((code) => !code.startsWith('engine_'))];
    expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
  });
});

/** Folders of the CLI are nouns of its commands, those of the testing package are named after what they stand for. */
const namedByThemselves = ['apps/cli', 'packages/testing'];

test.each(workspaces().filter(({ dir }) => /^(apps|packages)\//.test(dir) && !namedByThemselves.includes(dir)))(
  'the architecture page names each folder of $dir',
  ({ dir }) => {
    const page = read('ARCHITECTURE.md');
    const isNamed = (folder: string) => page.includes(`\`${folder}\``) || page.includes(`${dir}/src/${folder}`);
    expect(foldersOf(path.join(root, dir, 'src')).filter((folder) => folder !== 'db' && !isNamed(folder))).toEqual([]);
  },
);
