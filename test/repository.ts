import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '..');

/** The pages that people read. */
export const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'bench/README.md',
];

export type Workspace = { name: string; dir: string; dependencies: string[] };

/** Every workspace: `packages/*`, `apps/*`, `connectors/*`, `engines/*`. */
export function workspaces(): Workspace[] {
  return ['packages', 'apps', 'connectors', 'engines'].flatMap((group) =>
    workspacesIn(group).map((dir) => {
      const manifest = JSON.parse(read(`${dir}/package.json`)) as { name: string; dependencies?: Record<string, string> };
      return { name: manifest.name, dir, dependencies: Object.keys(manifest.dependencies ?? {}) };
    }),
  );
}

/** The template of connectors has no manifest: it does not count. */
const workspacesIn = (group: string): string[] =>
  foldersOf(path.join(root, group))
    .map((folder) => `${group}/${folder}`)
    .filter((dir) => existsSync(path.join(root, dir, 'package.json')));

export const foldersOf = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** TypeScript files below a folder of the repository, as paths from its root. */
export const sourcesOf = (dir: string): string[] => filesOf(dir, '.ts');

/** Files with this ending below a folder of the repository, as paths from its root. */
export function filesOf(dir: string, ending: string): string[] {
  return readdirSync(path.join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
    .map((file) => `${dir}/${file}`);
}

/** What a source file imports: static, dynamic, types and re-exports alike. */
export function importsOf(file: string): { specifier: string; typeOnly: boolean }[] {
  const text = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statics = [...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)];
  const dynamics = [...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)];
  return [
    ...statics.map((match) => ({ specifier: match[2] ?? '', typeOnly: match[1] !== undefined })),
    ...dynamics.map((match) => ({ specifier: match[1] ?? '', typeOnly: false })),
  ];
}
