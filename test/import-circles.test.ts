import path from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, sourcesOf, workspaces } from './repository.ts';

const all = workspaces();
const files = all.flatMap(({ dir }) => sourcesOf(`${dir}/src`)).filter((file) => !file.endsWith('.test.ts'));

/** The file that a specifier names; null if it is not ours. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return path.join(path.dirname(file), specifier);
  const own = all.find(({ name }) => specifier.startsWith(`${name}/`));
  return own === undefined ? null : path.join(own.dir, 'src', specifier.slice(own.name.length + 1));
}

/** Removes files that import none of the rest, then those that none of the rest imports: cycles remain, and files between two. */
function circlesOf(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const left = new Set(imports.keys());
  const importsLeft = (file: string) => [...(imports.get(file) ?? [])].some((target) => left.has(target));
  const isImported = (file: string) => [...left].some((other) => imports.get(other)?.has(file));
  for (const holds of [importsLeft, isImported]) {
    for (let before = Infinity; left.size < before;) {
      before = left.size;
      for (const file of left) if (!holds(file)) left.delete(file);
    }
  }
  return [...left].toSorted();
}

test('circlesOf() finds a cycle, without the files that lead to it', () => {
  const graph = (edges: Record<string, string[]>) =>
    new Map(Object.entries(edges).map(([file, targets]) => [file, new Set(targets)]));
  expect(circlesOf(graph({ a: ['b'], b: ['c'], c: [] }))).toEqual([]);
  expect(circlesOf(graph({ start: ['a'], a: ['b'], b: ['a', 'end'], end: [] }))).toEqual(['a', 'b']);
});

test('no file imports itself through others, types included', () => {
  const imports = new Map(
    files.map((file) => [file, new Set(importsOf(file).flatMap(({ specifier }) => targetOf(file, specifier) ?? []))]),
  );
  const found = [...imports.values()].reduce(
    (sum, targets) => sum + [...targets].filter((target) => imports.has(target)).length,
    0,
  );
  expect(found).toBeGreaterThan(files.length); // else the specifiers are no longer understood
  expect(circlesOf(imports)).toEqual([]);
});
