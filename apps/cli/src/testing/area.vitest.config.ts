import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// The repository, or the changed copy of it that the tests run in.
const root = process.cwd();

/** Resolves imports between workspaces within the copy; the links in `node_modules` would lead back to the unchanged sources. */
const alias = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(path.join(root, parent)).map((folder) => {
    const manifest = JSON.parse(readFileSync(path.join(root, parent, folder, 'package.json'), 'utf8')) as { name: string };
    return { find: new RegExp(`^${manifest.name}/(?=.*\\.ts$)`), replacement: path.join(root, parent, folder, 'src/') };
  }),
);

/** Small files first: their results are precise, and the first failure ends the run of a changed copy. */
class SmallFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const size = ({ moduleId }: TestSpecification) => statSync(moduleId).size;
    return Promise.resolve(files.toSorted((a, b) => size(a) - size(b)));
  }
}

/** The tests of one area, for the tools that measure its test coverage. */
// oxlint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  resolve: { alias },
  test: {
    include: JSON.parse(process.env['TEST_AREA'] ?? '[]') as string[],
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: SmallFirst },
    testTimeout: 60_000,
  },
});
