import { expect, test } from 'vitest';
import { read, sourcesOf } from './repository.ts';

/** What runs elsewhere as a program of a test: text there, with no import of ours. */
const programs = new Set(['packages/connector-kit/test/confine-process.test.ts', 'packages/store/src/damage.test.ts']);
const helper = /^packages\/service-kit\/src\/process\/signal-process(\.test)?\.ts$/;

test('signals by number go through the one helper that refuses what is no process, in tests too', () => {
  const files = ['packages', 'apps', 'connectors', 'engines', 'scripts', 'bench', 'test'].flatMap(sourcesOf);
  const wrong = files
    .filter((file) => !helper.test(file) && !programs.has(file) && file !== 'test/signals.test.ts')
    .flatMap((file) =>
      [...read(file).matchAll(/\bprocess(?:\??\.kill|\[['"]kill['"]\])\((?!\)|process\.pid\b).*|\bkill\b.*\} = process\b/g)].map(
        ([line]) => `${file}: ${line}`,
      ),
    )
    .filter((line) => !line.startsWith('engines/claude/src/conversation.ts'));
  expect(files.length).toBeGreaterThan(500);
  expect(wrong).toEqual([]);
});
