import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconcileEnv } from './reconcile-env.ts';

const before = '# Head.\n\n# ---- All ----\n\n# The port.\n#SVC_PORT=1\n';
const after = `${before}\n# How long, in ms.\n# Never 0.\n#SVC_TIME_MS=5\n\n#SVC_BARE=\n`;

test('new settings come to the end, commented out, with their comments', () => {
  expect(reconcileEnv('SVC_PORT=2\n', before, after)).toBe(
    'SVC_PORT=2\n\n# How long, in ms.\n# Never 0.\n#SVC_TIME_MS=5\n\n#SVC_BARE=\n',
  );
});

test('nothing is added that is there, set or commented, nor what was known before', () => {
  expect(reconcileEnv('export SVC_TIME_MS=9\n  # SVC_BARE=x', before, after)).toBeNull();
  expect(reconcileEnv('', before, before)).toBeNull();
});

test('a second time adds nothing', () => {
  const once = reconcileEnv('A=1', before, after);
  expect(reconcileEnv(once ?? '', before, after)).toBeNull();
});

test('what was there stays byte by byte, and no value changes, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (env) => {
      const made = reconcileEnv(env, before, after);
      if (made === null) return;
      expect(made.startsWith(env)).toBe(true);
      // A quote that is left open takes in what follows; then the file was broken before.
      if (!/["'`]/.test(env)) expect(parseEnv(made)).toEqual(parseEnv(env));
    }),
  );
});
