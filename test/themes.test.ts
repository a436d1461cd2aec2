import { expect, test } from 'vitest';
import { filesOf, read } from './repository.ts';

const apps = ['packages/chat-ui', 'packages/device-gateway/app', 'apps/dashboard/app'];
const sources = (ending: string) => apps.flatMap((app) => filesOf(`${app}/src`, ending));
/** Charts are painted again, in other colours; their place on the page stays. */
const charts = 'apps/dashboard/app/src/parts/chart/chart.tsx';

/** So that a page which was looked at in one theme has only its colours to be looked at in the other. */
test('a theme changes colours alone', () => {
  const styles = sources('.css').map((file) => read(file).replaceAll(/\/\*[^]*?\*\//g, ''));
  const ofThemes = styles.flatMap((css) => [...css.matchAll(/data-theme[^{}]*\{([^}]*)\}/g)].map(([, body = '']) => body.trim()));
  expect(new Set(ofThemes)).toEqual(new Set(['color-scheme: light;', 'color-scheme: dark;']));
  const values = styles.flatMap((css) => [...css.matchAll(/light-dark\(([^()]*)\)/g)].map(([, pair = '']) => pair));
  expect(values.length).toBeGreaterThan(10);
  expect(values.filter((pair) => !/^#[\da-f]{3,6}, #[\da-f]{3,6}$/.test(pair))).toEqual([]);
  expect(styles.filter((css) => css.replaceAll(/light-dark\([^()]*\)/g, '').includes('light-dark'))).toEqual([]);
  expect(styles.filter((css) => css.includes('prefers-color-scheme'))).toEqual([]);
  const scripts = [...sources('.ts'), ...sources('.tsx')].filter((file) => !file.endsWith('.test.ts'));
  expect(scripts.filter((file) => read(file).includes('prefers-color-scheme'))).toEqual([charts]);
});
