import path from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, sourcesOf, workspaces } from './repository.ts';

const all = workspaces();
const files = all.flatMap(({ dir }) => sourcesOf(`${dir}/src`)).filter((file) => !file.endsWith('.test.ts'));

/** The file that a specifier names; null for what is not ours. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return path.join(path.dirname(file), specifier);
  const own = all.find(({ name }) => specifier.startsWith(`${name}/`));
  return own === undefined ? null : path.join(own.dir, 'src', specifier.slice(own.name.length + 1));
}

/** Removes what imports nothing that is left, then what nothing that is left imports: circles stay, and what joins two. */
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

test('a circle of imports is found, and what leads to it is not blamed', () => {
  const graph = (edges: Record<string, string[]>) =>
    new Map(Object.entries(edges).map(([file, targets]) => [file, new Set(targets)]));
  expect(circlesOf(graph({ a: ['b'], b: ['c'], c: [] }))).toEqual([]);
  expect(circlesOf(graph({ start: ['a'], a: ['b'], b: ['a', 'end'], end: [] }))).toEqual(['a', 'b']);
});

test('no file imports itself by way of others, types included', () => {
  const imports = new Map(
    files.map((file) => [file, new Set(importsOf(file).flatMap(({ specifier }) => targetOf(file, specifier) ?? []))]),
  );
  const found = [...imports.values()].reduce(
    (sum, targets) => sum + [...targets].filter((target) => imports.has(target)).length,
    0,
  );
  expect(found).toBeGreaterThan(files.length); // or the names are not understood any more
  expect(circlesOf(imports)).toEqual([]);
});
