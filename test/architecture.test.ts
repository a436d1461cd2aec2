import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';
import { filesOf, foldersOf, importsOf, read, root, sourcesOf, workspaces } from './repository.ts';

const isTest = (file: string) => /\.test\.ts$|\/test\/|\/testing\//.test(file);
const packageOf = (specifier: string) => specifier.split('/').slice(0, 2).join('/');
const all = workspaces();
const productive = all.filter(({ name }) => name !== '@svc/testing');
const workspacesLike = (pattern: string) =>
  all.filter(({ dir }) => (pattern.endsWith('/*') ? dir.startsWith(pattern.slice(0, -1)) : dir === pattern));
const engines = workspacesLike('engines/*').map(({ name }) => name);

/** What a workspace may import of ours: packages, or single modules of one. */
type Imports = { packages: string[]; modules: string[]; isLight: boolean };

/** The table "Who may import whom" of the architecture page, by folders of workspaces. A later row overrides. A workspace without one may import nothing of ours. */
function readTable(): Map<string, Imports> {
  const section = /^## Who may import whom$[^]*?^## /m.exec(read('ARCHITECTURE.md'))?.[0] ?? '';
  const rows = [...section.matchAll(/^\| (`.*?) \| (.*?) \| .*\|$/gm)].map(([, who = '', what = '']) => ({ who, what }));
  const isModule = (name: string) => name.endsWith('.ts');
  const namesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  const table = new Map<string, Imports>();
  for (const { who, what } of rows) {
    const names = namesIn(what);
    const packages = names
      .filter((name) => !isModule(name))
      .flatMap((name) => (name.includes('/') ? workspacesLike(name).map((workspace) => workspace.name) : [`@svc/${name}`]));
    const imports = {
      packages,
      modules: names.filter(isModule).map((name) => `@svc/${name}`),
      isLight: what.includes('light `service-kit`'),
    };
    for (const { dir } of namesIn(who).flatMap(workspacesLike)) table.set(dir, imports);
  }
  return table;
}

const nothing: Imports = { packages: [], modules: [], isLight: false };
const table = readTable();
const mayImport = (dir: string): Imports => table.get(dir) ?? nothing;

/** Modules of the service-kit for workspaces that must stay small. They load nothing else. */
const light = [
  'backoff',
  'builtin',
  'clock',
  'composite-key',
  'cut-text',
  'feed/create-feed',
  'files',
  'fixed-window',
  'forget-oldest',
  'heading-guard',
  'http/guard',
  'http/loopback',
  'http/public-address',
  'http/refuse-bytes',
  'http/read-body',
  'http/receive-body',
  'http/sse-stream',
  'hub',
  'ids',
  'in-turn-by-key',
  'intake/byte-blocks',
  'intake/byte-budget',
  'json-shape',
  'json/read-json',
  'lane',
  'line-splitter',
  'own-imports',
  'process/marked-processes',
  'process/owned-process',
  'process/process-group',
  'process/process-usage',
  'process/run-program',
  'process/signal-process',
  'process/text-tail',
  'redaction/pace',
  'secret',
  'service-error',
  'text-lines',
  'well-formed',
  'within',
  'words',
];

/** The only place that loads an engine. */
const engineLoader = 'apps/core/src/engine/load-engine.ts';

describe('workspaces', () => {
  test('each has a row in the architecture page, with names that exist', () => {
    const known = new Set(all.map(({ name }) => name));
    const isThere = (module: string) => existsSync(path.join(root, module.replace(/^@svc\/([^/]+)/, 'packages/$1/src')));
    const rows = [...table.values()];
    expect(all.filter(({ dir }) => !table.has(dir)).map(({ dir }) => `ARCHITECTURE.md: say what ${dir} may import`)).toEqual([]);
    expect(rows.flatMap(({ packages }) => packages).filter((name) => !known.has(name))).toEqual([]);
    expect(rows.flatMap(({ modules }) => modules).filter((module) => !isThere(module))).toEqual([]);
  });

  test.each(productive)('$name imports only what it may', ({ name, dir }) => {
    const { packages, modules } = mayImport(dir);
    const isAllowed = (specifier: string) => [name, ...packages].includes(packageOf(specifier)) || modules.includes(specifier);
    const wrong = sourcesOf(`${dir}/src`)
      .filter((file) => !isTest(file))
      .flatMap((file) => importsOf(file).map(({ specifier }) => ({ file, specifier })))
      .filter(({ specifier }) => specifier.startsWith('@svc/') && !isAllowed(specifier));
    expect(wrong).toEqual([]);
  });

  test.each(productive.filter(({ dir }) => mayImport(dir).isLight))(
    '$name imports only light modules of the service-kit',
    ({ dir }) => {
      const taken = sourcesOf(`${dir}/src`)
        .filter((file) => !isTest(file))
        .flatMap((file) => importsOf(file).map((one) => ({ file, ...one })))
        .filter(({ typeOnly, specifier }) => !typeOnly && specifier.startsWith('@svc/service-kit/'));
      const isLight = (specifier: string) => light.some((module) => specifier === `@svc/service-kit/${module}.ts`);
      const heavy = taken.filter(({ specifier }) => !isLight(specifier));
      expect(
        heavy.map(({ file, specifier }) => `${file} imports ${specifier}, which is not among the light modules of this test`),
      ).toEqual([]);
    },
  );

  test.each(light)('the light module %s loads no library', (module) => {
    const values = importsOf(`packages/service-kit/src/${module}.ts`).filter(({ typeOnly }) => !typeOnly);
    expect(values.filter(({ specifier }) => !/^(node:|\.)/.test(specifier))).toEqual([]);
  });

  test('only tests import the testing package', () => {
    const wrong = productive
      .flatMap(({ dir }) => sourcesOf(dir))
      .filter((file) => !isTest(file) && importsOf(file).some(({ specifier }) => specifier.startsWith('@svc/testing/')));
    expect(wrong).toEqual([]);
  });

  test('none imports from another by a relative path', () => {
    const wrong = all.flatMap(({ dir }) =>
      sourcesOf(dir).flatMap((file) =>
        importsOf(file)
          .filter(({ specifier }) => specifier.startsWith('.'))
          .map(({ specifier }) => path.join(path.dirname(file), specifier))
          .filter((target) => !target.startsWith(`${dir}/`) && !target.startsWith('test/'))
          .map((target) => `${file} → ${target}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test.each(engines)(`%s is imported only by ${engineLoader}`, (name) => {
    const importers = productive
      .filter((workspace) => workspace.name !== name)
      .flatMap(({ dir }) => sourcesOf(`${dir}/src`))
      .filter((file) => importsOf(file).some(({ specifier }) => packageOf(specifier) === name));
    expect(importers).toEqual([engineLoader]);
  });
});

describe('core folders', () => {
  const files = sourcesOf('apps/core/src').filter((file) => !isTest(file));
  /** The folder of a resource; for a file beside the folders, its own name. */
  const partOf = (file: string) => file.split('/')[3] ?? '';
  const folders = foldersOf(path.join(root, 'apps/core/src'));

  /** Parts that import values of other parts, and why. */
  const composing: Record<string, string> = {
    'app.ts': 'it mounts the routes of every folder',
    'context.ts': 'it builds the parts and hands them over',
    'degraded-core.ts': 'it builds the few parts that need no database',
    'events.ts': 'it joins the emitters of the folder `event`',
    'main.ts': 'it runs the process',
    'open-foundation.ts': 'it builds what all parts stand on',
    'start-core.ts': 'it starts the parts in their order',
    turn: 'a turn puts the resources together, by their pure functions',
    steering: 'a title comes from an engine, run as a turn runs it',
    toolbelt: 'its tools show and change what the other folders keep',
  };
  /** Every part may import values of these, which import none. */
  const shared: Record<string, string> = { file: 'reading, checking and writing files is the same for all' };

  /** The run-time imports of a part from others, except from shared ones. */
  const takenBy = (part: string) =>
    files
      .filter((file) => partOf(file) === part)
      .flatMap((file) =>
        importsOf(file)
          .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
          .map(({ specifier }) => path.join(path.dirname(file), specifier))
          .filter((target) => partOf(target) !== part && !(partOf(target) in shared))
          .map((target) => `${file} → ${target}`),
      );

  test.each([...new Set(files.map(partOf))].filter((part) => !(part in composing)))(
    '%s imports only types of other parts',
    (part) => {
      expect(takenBy(part)).toEqual([]);
    },
  );

  test.each(Object.entries(composing))('%s imports values of other parts: %s', (part) => {
    expect(takenBy(part)).not.toEqual([]); // else it needs no exception
  });

  test.each(Object.keys(shared))('%s is a folder whose values others import', (folder) => {
    const importers = files.filter((file) =>
      importsOf(file).some(({ specifier, typeOnly }) => !typeOnly && specifier.startsWith(`../${folder}/`)),
    );
    expect(folders).toContain(folder);
    expect(new Set(importers.map(partOf)).size).toBeGreaterThan(1);
  });

  test('only start-core and tests create the context', () => {
    const importers = files.filter((file) =>
      importsOf(file).some(({ specifier, typeOnly }) => specifier.endsWith('/context.ts') && !typeOnly),
    );
    expect(importers).toEqual(['apps/core/src/start-core.ts']);
  });

  test('only app.ts and start-core.ts import the complete context', () => {
    const importers = files.filter((file) => importsOf(file).some(({ specifier }) => specifier.endsWith('/context.ts')));
    expect(importers.toSorted()).toEqual(['apps/core/src/app.ts', 'apps/core/src/start-core.ts']);
  });

  test('only the context takes all core settings', () => {
    expect(files.filter((file) => /\bsettings: CoreSettings\b/.test(read(file)))).toEqual(['apps/core/src/context.ts']);
  });
});

/** Files that read the environment: for settings, a log level, the abilities of a terminal, a helper process. */
const environmentReaders = [
  'packages/connector-kit/src/child/run-child.ts',
  'packages/service-kit/src/config/env-file.ts',
  'apps/cli/src/terminal.ts',
  'apps/cli/src/commands/service.ts', // what a service needs of the shell that installs it
  'apps/cli/src/commands/test.ts',
  'apps/cli/src/up/move-ports.ts', // whether a variable of the shell overrides .env
  'apps/cli/src/update/program-env.ts', // for git, and for programs of other versions
  'apps/collector/src/control/run-program.ts',
  'apps/collector/src/otel/otel-packages.ts',
  'apps/manager/src/connector-type/read-meta.ts',
];

describe('all code', () => {
  const files = productive.flatMap(({ dir }) => sourcesOf(`${dir}/src`)).filter((file) => !isTest(file));

  test('imports Node’s HTTP modules from one place', () => {
    const wrong = files.filter((file) =>
      importsOf(file).some(({ specifier, typeOnly }) => /^(node:)?https?$/.test(specifier) && !typeOnly),
    );
    expect(wrong).toEqual([]);
  });

  test('reads the environment in the listed files only', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(read(file)));
    expect(readers).toEqual(environmentReaders);
  });

  test('never starts a shell', () => {
    const wrong = files.filter((file) =>
      /shell:\s*true|\bexecSync?\(|import \{[^}]*\bexec\b[^}]*\} from 'node:child_process'/.test(read(file)),
    );
    expect(wrong).toEqual([]);
  });

  test('resolves a speaker in one place, and the sender of a message only in the listed files', () => {
    const asking = files.filter((file) => /\btrust\.resolve\(/.test(read(file)));
    expect(asking.toSorted()).toEqual([
      'apps/core/src/terminal/is-operator.ts', // the person that the dashboard's proxy proves
      'apps/core/src/trust/pairing.ts',
      'apps/core/src/trust/trust-routes.ts', // the operator asks about anyone
      'apps/core/src/turn/amend/amend.ts',
      'apps/core/src/turn/amend/right-to-amend.ts',
      'apps/core/src/turn/recover-turns.ts',
      'apps/core/src/turn/steps/admit.ts',
      'packages/service-kit/src/resolve-speaker.ts',
    ]);
  });

  test('compares names of engines only in the listed files; differences are in engine-traits.ts', () => {
    const names = engineNames.filter((name) => name !== 'offline').join('|');
    const comparing = new RegExp(`[!=]== '(?:${names})'|(?:includes|renew)\\('(?:${names})'`);
    const screens = filesOf('apps/dashboard/app/src', '.tsx');
    const found = [...files, ...screens].filter((file) => comparing.test(read(file)));
    expect(found.toSorted()).toEqual([
      'apps/collector/src/terminal/session-hosts.ts', // which program records its sessions
      'apps/collector/src/transcript/read-transcript.ts', // where a transcript has its folder
      'packages/service-kit/src/transcript/gemini-line.ts', // a word in its transcripts
    ]);
  });

  test('keeps the contract free of package imports at run time', () => {
    const values = sourcesOf('packages/contract/src').flatMap((file) => importsOf(file).filter(({ typeOnly }) => !typeOnly));
    expect(values.filter(({ specifier }) => !specifier.startsWith('.'))).toEqual([]);
  });
});

test('computes with the time of day only where it is stored or shown, and measures durations by the monotonic clock', () => {
  const counted = /\b(?:clock|Date)\.now\(\)\)? [-+<>]|(?<!=)[-+<>]=? (?:[\w.#]+\.)?(?:clock|Date)\.now\(\)/;
  const files = ['apps', 'packages', 'connectors', 'engines'].flatMap(sourcesOf);
  const found = files.filter((file) => !/\.test\.ts$|\/test\/|^packages\/testing\//.test(file) && counted.test(read(file)));
  expect(found.toSorted()).toEqual([
    'apps/collector/src/map/map-routes.ts',
    'apps/collector/src/search/search-routes.ts',
    'apps/collector/src/terminal/engine-processes.ts',
    'apps/collector/src/transcript/create-transcripts.ts',
    'apps/collector/src/transcript/watch-transcripts.ts',
    'apps/core/src/auth/login-throttle.ts', // `not_before`
    'apps/core/src/auth/passkey-challenges.ts', // when it ends
    'apps/core/src/checkout/checkouts.ts', // `used_at`
    'apps/core/src/delivery/outbox.ts', // `next_at`
    'apps/core/src/session/forget-once.ts',
    'apps/core/src/toolbelt/tools/sessions.ts',
    'apps/core/src/trust/invitations.ts',
    'apps/core/src/trust/pairing.ts', // `expires_at`
    'apps/core/src/trust/pending.ts',
    'apps/core/src/trust/trust-admin.ts',
    'apps/core/src/upload/uploads.ts', // the time of a file
    'apps/dashboard/app/src/screens/people/trust-words.ts', // `expires_at`
    'apps/manager/src/outbound/announcement-delivery.ts', // `expires_at`
    'apps/manager/src/outbound/sent-store.ts',
    'apps/vault/src/token/proxy-tokens.ts', // `expires_at`
    'connectors/chatroom/src/incoming/event-source.ts',
    'connectors/compat/src/message-ids.ts',
    'connectors/issues/src/github/github-api.ts', // until when, for people
    'connectors/issues/src/outgoing/hourly-budget.ts', // when it was posted
    'connectors/toolserver/src/mcp/end-with-token.ts',
    'connectors/toolserver/src/notes/waiting-notes.ts',
    'connectors/toolserver/src/oauth/stored-models.ts',
    'packages/device-gateway/src/device/pairing.ts',
    'packages/device-gateway/src/push/awaited-answers.ts',
    'packages/device-gateway/src/push/vapid.ts', // `expires_at`
    'packages/device-gateway/src/rpc/device-calls.ts', // `expires_at`
    'packages/engine-kit/src/temporary-files.ts', // the time of a file
    'packages/service-kit/src/restore/restore-advice.ts', // the time of an id
    'packages/service-kit/src/setup-link.ts',
    'packages/supervisor/src/supervised-child.ts', // `next_start_at`
  ]);
});
