/**
 * Makes the package for writing and testing connectors outside this repository: the kit and the modules of the contract and
 * the service-kit that it uses, as JavaScript with types. It needs no other package: the Markdown parser is included, with
 * its licence. Prints the path of the package.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const packages = path.join(root, 'packages');
const entries = {
  '.': 'connector-kit/index',
  './markdown': 'connector-kit/markdown/index',
  './testing': 'connector-kit/testing/index',
};
const parser = path.join(root, 'node_modules/marked');
const specifiers = /(\bfrom\s+|\bimport\(\s*|^import\s+)'((?:@svc|\.{1,2})\/[^']+)'/gm;

/** The module that an import specifier refers to, such as `connector-kit/http/exchange`. */
function moduleOf(specifier: string, from: string): string {
  const file = specifier.startsWith('@svc/') ? specifier.slice('@svc/'.length) : path.join(path.dirname(from), specifier);
  return file.replace(/\.ts$/, '');
}

const sourceOf = (module: string): string => {
  const [name = '', ...rest] = module.split('/');
  return path.join(packages, name, 'src', `${rest.join('/')}.ts`);
};

/** All modules reachable from the entries, each with its text, in which imports are rewritten to relative paths. */
function gather(): Map<string, string> {
  const texts = new Map<string, string>();
  const open: string[] = Object.values(entries);
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (texts.has(module)) continue;
    const own = module;
    const file = own === 'contract/schema' ? path.join(import.meta.dirname, 'pack-connector-kit/plain-schema.ts') : sourceOf(own);
    const text = readFileSync(file, 'utf8').replaceAll(specifiers, (_all, before: string, specifier: string) => {
      const target = moduleOf(specifier, own);
      open.push(target);
      const near = path.relative(path.dirname(own), target);
      return `${before}'${near.startsWith('.') ? near : `./${near}`}.js'`;
    });
    texts.set(own, text);
  }
  return texts;
}

function compile(staging: string): void {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    verbatimModuleSyntax: true,
    declaration: true,
    skipLibCheck: true,
    rootDir: 'src',
    outDir: 'dist',
    types: ['node'],
    typeRoots: [path.join(root, 'node_modules/@types')],
  };
  writeFileSync(path.join(staging, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  execFileSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', staging], { stdio: 'inherit' });
}

/** Copies the parser beside the compiled modules, and rewrites their imports of it to that copy. */
function includeParser(staging: string): void {
  const dist = path.join(staging, 'dist');
  const own = path.join(dist, 'marked');
  mkdirSync(own);
  cpSync(path.join(parser, 'LICENSE'), path.join(own, 'LICENSE'));
  cpSync(path.join(parser, 'lib/marked.d.ts'), path.join(own, 'marked.d.ts'));
  const code = readFileSync(path.join(parser, 'lib/marked.esm.js'), 'utf8');
  writeFileSync(path.join(own, 'marked.js'), code.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(name)) continue;
    const file = path.join(dist, name);
    const text = readFileSync(file, 'utf8');
    const near = path.relative(path.dirname(file), path.join(own, 'marked.js'));
    const rewritten = text.replaceAll(/\bfrom 'marked'/g, `from '${near.startsWith('.') ? near : `./${near}`}'`);
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
}

function manifest(): object {
  const { version } = JSON.parse(readFileSync(path.join(packages, 'connector-kit/package.json'), 'utf8')) as { version: string };
  const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { engines: object };
  const exports = Object.fromEntries(
    Object.entries(entries).map(([name, module]) => [name, { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` }]),
  );
  return {
    name: '@svc/connector-kit',
    version,
    description: 'Everything for writing and testing connectors of the Assistant Gateway.',
    license: 'MIT',
    type: 'module',
    engines,
    exports,
    files: ['dist'],
  };
}

function pack(target: string): string {
  const staging = mkdtempSync(path.join(tmpdir(), 'svc-pack-'));
  try {
    for (const [module, text] of gather()) {
      const file = path.join(staging, 'src', `${module}.ts`);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    writeFileSync(path.join(staging, 'package.json'), JSON.stringify({ type: 'module' }));
    mkdirSync(path.join(staging, 'node_modules'));
    symlinkSync(parser, path.join(staging, 'node_modules/marked'));
    compile(staging);
    includeParser(staging);
    rmSync(path.join(staging, 'node_modules'), { recursive: true });
    writeFileSync(path.join(staging, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
    cpSync(path.join(packages, 'connector-kit/README.md'), path.join(staging, 'README.md'));
    mkdirSync(target, { recursive: true });
    const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', target];
    const [packed] = JSON.parse(execFileSync('npm', args, { cwd: staging, encoding: 'utf8' })) as { filename: string }[];
    return path.join(target, (packed?.filename ?? '').replace(/^@/, '').replace('/', '-'));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

process.stdout.write(`${pack(path.resolve(process.argv[2] ?? '.'))}\n`);
