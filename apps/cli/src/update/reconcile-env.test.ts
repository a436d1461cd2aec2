import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconcileEnv } from './reconcile-env.ts';

const before = '# Head.\n\n# ---- All ----\n\n# The port.\n#SVC_PORT=1\n';
const after = `${before}\n# How long, in ms.\n# Never 0.\n#SVC_TIME_MS=5\n\n#SVC_BARE=\n`;

test('new settings are appended, commented out, with their comments', () => {
  expect(reconcileEnv('SVC_PORT=2\n', before, after)).toBe(
    'SVC_PORT=2\n\n# How long, in ms.\n# Never 0.\n#SVC_TIME_MS=5\n\n#SVC_BARE=\n',
  );
});

test('known, set or commented settings are not added', () => {
  expect(reconcileEnv('export SVC_TIME_MS=9\n  # SVC_BARE=x', before, after)).toBeNull();
  expect(reconcileEnv('', before, before)).toBeNull();
});

test('reconcileEnv() is idempotent', () => {
  const once = reconcileEnv('A=1', before, after);
  expect(reconcileEnv(once ?? '', before, after)).toBeNull();
});

test('a random .env is kept byte for byte, and no value changes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (env) => {
      const made = reconcileEnv(env, before, after);
      if (made === null) return;
      expect(made.startsWith(env)).toBe(true);
      // An unclosed quote would include the new lines; such a file was broken before.
      if (!/["'`]/.test(env)) expect(parseEnv(made)).toEqual(parseEnv(env));
    }),
  );
});
