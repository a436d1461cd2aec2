import { expect, test } from 'vitest';
import { read, sourcesOf } from './repository.ts';

/** Programs that tests run elsewhere: text without imports of ours. */
const programs = new Set(['packages/connector-kit/test/confine-process.test.ts', 'packages/store/src/damage.test.ts']);
const helper = /^packages\/service-kit\/src\/process\/signal-process(\.test)?\.ts$/;

test('signals to a pid go through signal-process.ts, in tests too', () => {
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
