import { expect, test } from 'vitest';
import { filesOf, read } from './repository.ts';

const apps = ['packages/chat-ui', 'packages/device-gateway/app', 'apps/dashboard/app'];
const sources = (ending: string) => apps.flatMap((app) => filesOf(`${app}/src`, ending));
/** Charts are redrawn in other colours, at the same place. */
const charts = 'apps/dashboard/app/src/parts/chart/chart.tsx';

/** So that a page that was checked in one theme needs only its colours checked in the other. */
test('a theme changes only colours', () => {
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

/** So that a page whose colours were checked in a wide window needs only its layout checked in a narrow one. */
test('styles for a window width set no colours', () => {
  const blocks = sources('.css').flatMap((file) => [
    ...read(file).matchAll(/@(?:media|container)[^{]*width[^{]*\{((?:[^{}]*\{[^{}]*\})*)/g),
  ]);
  expect(blocks.length).toBeGreaterThan(4);
  const rules = blocks.flatMap(([, body = '']) => [...body.matchAll(/([^{}]+)\{([^{}]*)\}/g)]);
  const ofColours = rules.flatMap(([, selector = '', body = '']) =>
    body
      .split(';')
      .map((line) => line.trim())
      .filter((line) => /^(?:--|color|background|opacity|filter|fill|mix-blend|font:|font-weight)/.test(line))
      .map((line) => `${selector.trim()} { ${line} }`),
  );
  // Only a narrow window has the bar of screens, which is checked in both themes, and the names beside the facts, which are no text to axe.
  expect(ofColours.toSorted()).toEqual(['.facts td::before { color: var(--muted) }', '.tabs { background: var(--surface) }']);
});
