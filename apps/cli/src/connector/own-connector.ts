import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { environmentOfPrograms } from '../terminal.ts';

type Options = {
  /** The type, which is also the name of the folder. */
  name: string;
  /** The parent of the new folder. */
  parent: string;
  /** The service whose template and kit are used. */
  root: string;
};

/** Files of a copy that the template lacks: within the service the template is not a package of its own. */
const manifest = (name: string) => ({
  name: `svc-connector-${name}`,
  version: '0.1.0',
  private: true,
  type: 'module',
  exports: './src/index.ts',
  scripts: { test: 'node --test "test/*.spec.ts"' },
});
const workspaceManifest = (name: string, version: string) => ({
  name: `@svc/connector-${name}`,
  version,
  private: true,
  license: 'MIT',
  type: 'module',
  exports: { './*': './src/*' },
  dependencies: { '@svc/connector-kit': '*' },
});
const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  noEmit: true,
  strict: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  // TypeScript 6 and newer include no types by default.
  types: ['node'],
};

/** Creates a connector from the template and returns its folder. @throws CliError when the name cannot be used */
export function newConnector({ name, parent, root }: Options): string {
  checkName(name, root);
  const folder = path.join(parent, name);
  if (existsSync(folder)) throw new CliError(`${folder} already exists.`, { why: 'Choose another name, or remove it first.' });
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  cpSync(path.join(root, 'connectors/_template'), folder, { recursive: true });
  for (const file of textFilesIn(folder)) rename(file, name);
  if (path.resolve(parent) === path.join(root, 'connectors')) makeWorkspace(folder, name, root);
  else makePackage(folder, name, root);
  return folder;
}

/** A connector of the operator's own, outside this repository. */
function makePackage(folder: string, name: string, root: string): void {
  // The manager runs no code from a folder that others can write, and some umasks would make it one.
  chmodSync(folder, 0o700);
  writeJson(path.join(folder, 'package.json'), manifest(name));
  writeJson(path.join(folder, 'tsconfig.json'), { compilerOptions, include: ['src', 'test'] });
  linkKit(folder, root);
}

/** A built-in connector: a workspace of this repository, whose tests run with all others. */
function makeWorkspace(folder: string, name: string, root: string): void {
  const version = readFileSync(path.join(root, 'VERSION'), 'utf8').trim();
  writeJson(path.join(folder, 'package.json'), workspaceManifest(name, version));
  edit(path.join(folder, 'README.md'), (text) =>
    text.replace('`npm test`', `\`./svc test connectors/${name}\``).replaceAll('.spec.ts', '.test.ts'),
  );
  for (const file of textFilesIn(path.join(folder, 'test'))) {
    edit(file, (text) => text.replace("'node:test'", "'vitest'").replaceAll(/\bt\.after\(/g, 't.onTestFinished('));
    renameSync(file, file.replace(/\.spec\.ts$/, '.test.ts'));
  }
}

function checkName(name: string, root: string): void {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name) || name.endsWith('-')) {
    throw new CliError(`"${name}" cannot be the name of a connector.`, {
      why: 'It takes up to 32 of a-z, 0-9 and "-", beginning with a letter.',
    });
  }
  if (['node-modules', 'template', 'svc'].includes(name) || existsSync(path.join(root, 'connectors', name))) {
    throw new CliError(`"${name}" is a name that the service uses itself.`, { why: 'Choose another one.' });
  }
}

const textFilesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|md)$/.test(file))
    .map((file) => path.join(folder, file));

const rename = (file: string, name: string): void =>
  edit(file, (text) =>
    text
      .replaceAll("'template'", `'${name}'`)
      .replaceAll("'Template'", `'${titleOf(name)}'`)
      .replace(/^# Template$/m, `# ${titleOf(name)}`),
  );

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed !== text) writeFileSync(file, changed);
}

const titleOf = (name: string): string =>
  name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');

/** Lets editors and tests find the kit. A running connector always gets the kit of its service. */
function linkKit(folder: string, root: string): void {
  const link = path.join(folder, 'node_modules/@svc/connector-kit');
  mkdirSync(path.dirname(link), { recursive: true });
  symlinkSync(path.join(root, 'packages/connector-kit'), link);
}

const writeJson = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

type OwnTests = {
  /** Its type, or the path of a folder elsewhere. */
  name: string;
  /** The connectors folder of the data folder. */
  parent: string;
};

/**
 * Runs the tests of the operator's own connector as its `package.json` says, under the Node of the service: that of the
 * machine may be too old for them. Returns the exit code. @throws CliError when there is no such connector
 */
export async function testConnector({ name, parent }: OwnTests): Promise<number> {
  const cwd = [path.join(parent, name), path.resolve(name)].find((folder) => existsSync(path.join(folder, 'package.json')));
  if (cwd === undefined) {
    throw new CliError(`there is no connector of your own "${name}".`, {
      why: `Yours are the folders in ${parent}.`,
      run: `./svc connector new ${/^[a-z][a-z0-9-]*$/.test(name) ? name : 'NAME'}`,
    });
  }
  const env = environmentOfPrograms();
  const PATH = [path.dirname(process.execPath), env['PATH']].join(path.delimiter);
  return run('npm', ['test', '--no-update-notifier'], { cwd, env: { ...env, PATH } });
}

function run(command: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? exitCodes.failed));
  });
}
