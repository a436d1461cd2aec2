import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { findPortClash } from '../src/instance/port-clash.ts';
import { describeMetaProblems } from '../src/connector-type/meta-problems.ts';
import { findTypes, type SeenFolders } from '../src/connector-type/find-types.ts';
import { testSettings } from './open-manager.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const metaOf = (type: string, over: object = {}) => {
  const meta = {
    type,
    displayName: type,
    supportsMultiple: true,
    capabilities: {},
    credentialKeys: [],
    configSchema: { type: 'object', properties: {} },
    outbound: false,
    ...over,
  };
  return `export const meta = ${JSON.stringify(meta)};\n`;
};

function write(file: string, content: string): void {
  mkdirSync(path.dirname(path.join(folder.path, file)), { recursive: true, mode: 0o755 });
  writeFileSync(path.join(folder.path, file), content);
}

const find = () => findTypes(path.join(folder.path, 'own'), path.join(folder.path, 'added'));
const namesOf = async () => (await find()).types.map(({ meta }) => meta.type);

describe('connector types', () => {
  test('are none when the folders do not exist', async () => {
    expect(await find()).toEqual({ types: [], problems: [] });
  });

  test.each([
    ['src/index.ts', 'src/index.ts', null],
    ['src/index.js', 'src/index.js', null],
    ['index.js', 'index.js', null],
    ['the exports of a package', 'lib/main.js', { exports: './lib/main.js' }],
    ['the main export of a package', 'lib/main.js', { exports: { '.': { default: './lib/main.js' } } }],
  ])('are found by %s, both built-in and added', async (_, file, manifest) => {
    for (const place of ['own/first', 'added/second']) {
      write(`${place}/${file}`, metaOf(path.basename(place)));
      write(`${place}/package.json`, JSON.stringify({ type: 'module', ...manifest }));
    }
    const { types, problems } = await find();
    expect(problems).toEqual([]);
    expect(types.map(({ meta, entry }) => [meta.type, entry])).toEqual([
      ['first', path.join(folder.path, 'own/first', file)],
      ['second', path.join(folder.path, 'added/second', file)],
    ]);
  });

  test.each(['shell', 'query', 'web'])('cannot have the name of a built-in channel: %s', async (name) => {
    write(`added/${name}/index.js`, metaOf(name));
    const { types, problems } = await find();
    expect(types).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(`"${name}" is the name of a built-in channel; choose another name`)]);
  });

  test('have outbound: false by default', async () => {
    write('added/ear/index.js', metaOf('ear', { outbound: undefined }));
    expect(await find()).toMatchObject({ types: [{ meta: { type: 'ear', outbound: false } }], problems: [] });
  });

  test('can declare only credential fields exclusive', async () => {
    write('added/shop/index.js', metaOf('shop', { exclusive: ['port'] }));
    expect((await find()).problems).toEqual([
      expect.stringContaining('exclusive names "port", which credentialKeys does not have'),
    ]);
  });

  test('are described by meta.ts without their code being loaded', async () => {
    write('own/lazy/src/meta.ts', metaOf('lazy'));
    write('own/lazy/src/index.ts', 'throw new Error("loaded")');
    expect(await namesOf()).toEqual(['lazy']);
  });

  test('that are built in cannot be replaced by an added one', async () => {
    write('own/same/index.js', metaOf('same', { displayName: 'Ours' }));
    write('added/same/index.js', metaOf('same', { displayName: 'Theirs' }));
    const { types, problems } = await find();
    expect(types.map(({ meta }) => meta.displayName)).toEqual(['Ours']);
    expect(problems).toEqual([expect.stringContaining('another type already has this name')]);
  });

  test('are not loaded from an added folder that others may write to', async () => {
    write('added/open/index.js', metaOf('open'));
    chmodSync(path.join(folder.path, 'added/open'), 0o777);
    const { types, problems } = await find();
    expect(types).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('chmod go-w')]);
  });

  test.each([
    ['without meta', 'export const start = 1', 'exports no "meta"'],
    ['without a module', null, 'neither package.json "exports" nor'],
    ['with another name', metaOf('b'), 'meta.type is "b" but its folder is "a"'],
    ['without a display name', metaOf('a', { displayName: undefined }), 'meta.displayName is missing'],
    ['with a credential that its config does not have', metaOf('a', { credentialKeys: ['k'] }), 'credentialKeys names "k"'],
    [
      'with a required field that its config does not have',
      metaOf('a', { configSchema: { type: 'object', required: ['x'], properties: {} } }),
      'requires "x"',
    ],
    [
      'with a schema that is no schema',
      metaOf('a', { configSchema: { type: 'object', properties: { x: { type: 'strnig', title: 'X' } } } }),
      'not a JSON Schema',
    ],
    [
      'with a schema that cannot be followed',
      metaOf('a', { configSchema: { type: 'object', properties: { x: { type: 'string', title: 'X', $ref: '#/nowhere' } } } }),
      'not a JSON Schema',
    ],
    ['that throw while they are loaded', 'throw new Error("not today")', 'not today'],
  ])('%s are reported as broken and do not affect others', async (_, content, problem) => {
    write('added/a/README', '');
    if (content !== null) write('added/a/index.js', content);
    write('own/good/index.js', metaOf('good'));
    const { types, problems } = await find();
    expect(types.map(({ meta }) => meta.type)).toEqual(['good']);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  test('that were added are loaded in separate processes, so that a broken one affects no other', async () => {
    const added = {
      'a-leaver': 'process.exit(7)',
      'a-thrower': 'throw new Error("not today")',
      'a-sleeper': 'await new Promise(() => setInterval(() => 0, 1000))',
      'a-spinner': 'for (;;);',
      'fails-later': `${metaOf('fails-later')} setTimeout(() => { throw new Error("later") })`,
      'sees-little': `const { SVC_CANARY } = process.env;\n${metaOf('sees-little')} meta.displayName = String(SVC_CANARY);`,
    };
    for (const [name, content] of Object.entries(added)) write(`added/${name}/index.js`, content);
    process.env['SVC_CANARY'] = 'a token';
    const { types, problems } = await find();
    delete process.env['SVC_CANARY'];
    expect(types.map(({ meta }) => meta.displayName)).toEqual(['fails-later', 'undefined']);
    expect(problems).toEqual([
      expect.stringContaining('its process ended while it was loaded (exit code 7)'),
      expect.stringContaining('took longer than 5 s'),
      expect.stringContaining('took longer than 5 s'),
      expect.stringContaining('not today'),
    ]);
  });

  test('are found beside a broken symbolic link', async () => {
    write('own/good/index.js', metaOf('good'));
    symlinkSync('loop', path.join(folder.path, 'own/loop'));
    expect(await namesOf()).toEqual(['good']);
  });

  test('that are built in are all valid', async () => {
    const { types, problems } = await findTypes(path.join(repositoryRoot, 'connectors'), folder.path);
    expect(problems).toEqual([]);
    expect(types.map(({ meta }) => meta.type)).toContain('compat');
    for (const { folder: dir } of types) {
      const { meta } = (await import(pathToFileURL(path.join(dir, 'src/meta.ts')).href)) as { meta: unknown };
      expect(describeMetaProblems(meta, path.basename(dir)), dir).toEqual([]);
    }
  });

  test('that are built in have the action "file" exactly if they can send attachments', async () => {
    const { types } = await findTypes(path.join(repositoryRoot, 'connectors'), folder.path);
    for (const { meta } of types) {
      const { actions = [], supports_attachments_out: takesFiles } = meta.capabilities;
      expect(actions.includes('file'), meta.type).toBe(takesFiles);
    }
  });

  test('allow two e-mail instances with the same ports of mail servers', async () => {
    const { types } = await findTypes(path.join(repositoryRoot, 'connectors'), folder.path);
    const fieldsOf = (name: string) => types.find(({ meta }) => meta.type === name)?.meta.configSchema.properties;
    const mailbox = (id: string) => ({ id, type: 'email', name: id, enabled: true, config: { imap_port: 993, smtp_port: 465 } });
    expect(findPortClash(mailbox('b'), [mailbox('a')], { hosts: testSettings(folder.path), fieldsOf })).toBeNull();
  });
});

/** Loads only once a file exists deep in its folder, where changes are not noticed. */
const moody = `
  import { existsSync } from 'node:fs';
  if (!existsSync(new URL('./deep/down/ready', import.meta.url))) throw new Error('not today');
  export const meta = { type: 'moody', displayName: 'Moody', supportsMultiple: true, capabilities: {}, credentialKeys: [],
    configSchema: { type: 'object', properties: {} }, outbound: false };`;

test('a type that failed to load is tried again after a while, even if its folder is unchanged', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const own = path.join(folder.path, 'own');
  const dir = path.join(folder.path, 'added/moody');
  mkdirSync(path.join(dir, 'deep/down'), { recursive: true, mode: 0o755 });
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(dir, 'index.js'), moody);
  const seen: SeenFolders = new Map();
  const find = () => findTypes(own, path.join(folder.path, 'added'), seen);

  expect((await find()).problems).toEqual([expect.stringContaining('not today')]);
  writeFileSync(path.join(dir, 'deep/down/ready'), '');
  // Not at once: a type that never finishes loading takes five seconds.
  expect((await find()).problems).toHaveLength(1);
  vi.advanceTimersByTime(30_000);
  expect(await find()).toMatchObject({ types: [{ meta: { type: 'moody' } }], problems: [] });
});
