import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '@svc/contract/error-body.ts';
import { eventKinds } from '@svc/contract/event.ts';
import { outcomes } from '@svc/contract/turn.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';
import { settingList } from '@svc/service-kit/config/settings.ts';
import { foldersOf, pages, read, root, sourcesOf, workspaces } from './repository.ts';

const appsAndPackages = workspaces().filter(({ dir }) => /^(apps|packages)\//.test(dir));
const foldersIn = (dir: string): string[] => foldersOf(path.join(root, dir));

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

test.each(engineNames)('the engines page names %s, and the version the service is tested with', async (id) => {
  const file = path.join(root, `engines/${id}/src/pin.ts`);
  const { pin = null } = existsSync(file) ? ((await import(file)) as { pin: { package: string; version: string } }) : {};
  const words = [`\`${id}\``, ...(pin === null ? [] : [`${pin.package}@${pin.version}`])];
  const without = words.filter((word) => !read('docs/engines.md').includes(word));
  expect(without.map((word) => `docs/engines.md: name ${word}`)).toEqual([]);
});

test.each(foldersIn('connectors').filter((type) => type !== '_template'))('the pages of channels name %s', (type) => {
  const instances = read('ARCHITECTURE.md')
    .split('\n')
    .find((line) => line.startsWith('| connector instance |'));
  const places = {
    'docs/connectors.md': read('docs/connectors.md'),
    'ARCHITECTURE.md, the row of connector instances': instances,
  };
  const without = Object.entries(places).filter(([, text = '']) => !text.includes(`\`${type}\``));
  expect(without.map(([place]) => `${place}: name \`${type}\``)).toEqual([]);
});

test('every setting is documented in a page', () => {
  const text = pages
    .filter((page) => page.startsWith('docs/'))
    .map(read)
    .join('\n');
  const without = [...settingList.keys()].filter((name) => name.startsWith('SVC_') && !new RegExp(`\\b${name}\\b`).test(text));
  expect(without.map((name) => `docs/: say in a page what ${name} is for`)).toEqual([]);
});

describe('API page', () => {
  const page = read('docs/api.md');
  /** Parameters have different names in different places. */
  const shape = (route: string) => route.replaceAll(/:\w+/g, ':x');

  const routes = sourcesOf('apps/core/src').flatMap((file) =>
    [...read(file).matchAll(/\bapp\.\w+(?:<[^(]*>)?\(\s*'(\/[^']+)'/g)].map((match) => match[1] ?? ''),
  );
  const named = [...page.matchAll(/(?<!\w)(\/(?:v2|trust|query|events)\b[\w/:-]*)/g)].map((match) => match[1] ?? '');
  const without = (all: readonly string[], these: readonly string[]) => {
    const shapes = new Set(these.map(shape));
    return [...new Set(all)].filter((route) => !shapes.has(shape(route)));
  };

  test('names exactly the routes of the core', () => {
    expect(routes.length).toBeGreaterThan(20);
    const unnamed = without(routes, named).map((route) => `docs/api.md: name the route ${route}`);
    const gone = without(named, routes).map((route) => `docs/api.md: take out ${route}, which no route of the core has`);
    expect([...unnamed, ...gone]).toEqual([]);
  });

  test('names every outcome, event kind and error code', () => {
    // The engines page and the messages explain the codes of engines.
    const words = [...outcomes, ...eventKinds, ...errorCodes.filter((code) => !code.startsWith('engine_'))];
    expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
  });
});

describe('data folder', () => {
  const section = /^## Where state lives$[^]*?^## /m.exec(read('ARCHITECTURE.md'))?.[0] ?? '';
  const names = Object.values(dataPaths('/data')).map((file) => path.relative('/data', file).split('/')[0] ?? '');

  test('the architecture page names each of its files and folders', () => {
    const unnamed = new Set(names.filter((name) => !section.includes(`\`${name}\``) && !section.includes(`\`${name}/\``)));
    unnamed.delete('');
    expect([...unnamed].map((name) => `ARCHITECTURE.md, "Where state lives": name ${name}`)).toEqual([]);
  });

  test('its paths are built in one place', () => {
    const joined = /\bjoin\((?:\w+\.)*(?:dataDir|paths\.root),\s*'/;
    const files = appsAndPackages.flatMap(({ dir }) => sourcesOf(`${dir}/src`));
    const isApart = (file: string) => /\.test\.ts$|^packages\/(?:testing|connector-kit)\//.test(file); // a connector has its own data folder
    const found = files.filter((file) => !isApart(file) && joined.test(read(file)));
    expect(found.map((file) => `${file}: take the path from dataPaths`)).toEqual([]);
  });
});

/** Folders of the CLI are nouns of its commands, those of the testing package are named after what they imitate. */
const namedByThemselves = ['apps/cli', 'packages/testing'];

/** The part of the architecture page about the folders of a workspace: a table for the core, a row for each other one. */
function rowsOf(dir: string): string {
  const page = read('ARCHITECTURE.md');
  if (dir === 'apps/core') return /^\| folder of `apps\/core\/src`[^]*?\n\n/m.exec(page)?.[0] ?? '';
  return page.split('\n').find((line) => line.startsWith(`| \`${dir}/src\``)) ?? '';
}

test('the architecture page has a row for each app and package, and for each other folder with code', () => {
  const ignored = read('.gitignore')
    .split('\n')
    .map((line) => line.replaceAll('/', ''));
  const elsewhere = ['apps', 'packages', 'connectors', 'engines', 'docs', ...ignored];
  const others = foldersIn('.').filter((name) => !name.startsWith('.') && !elsewhere.includes(name));
  const wanted = [
    ...appsAndPackages.filter(({ dir }) => rowsOf(dir) === '').map(({ dir }) => `${dir}/src`),
    ...others.filter((name) => !read('ARCHITECTURE.md').includes(`\n| \`${name}\` |`)),
  ];
  expect(wanted.map((place) => `ARCHITECTURE.md, "Where things are": add a row for ${place}`)).toEqual([]);
});

test.each(appsAndPackages.filter(({ dir }) => !namedByThemselves.includes(dir)))(
  'the architecture page names each folder of $dir',
  ({ dir }) => {
    const unnamed = foldersIn(`${dir}/src`).filter((folder) => folder !== 'db' && !rowsOf(dir).includes(`\`${folder}\``));
    expect(unnamed.map((folder) => `ARCHITECTURE.md: name \`${folder}\` in the table of folders, for ${dir}/src`)).toEqual([]);
  },
);
