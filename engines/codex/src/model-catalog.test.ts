import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openModelCatalog, withoutSearch } from './model-catalog.ts';

test('no model has to search for its tools, and the rest of what is known of it stays', () => {
  const text = JSON.stringify({ models: [{ slug: 'a', supports_search_tool: true, x: [1] }, { slug: 'b' }] });
  expect(JSON.parse(withoutSearch(text))).toEqual({
    models: [
      { slug: 'a', supports_search_tool: false, x: [1] },
      { slug: 'b', supports_search_tool: false },
    ],
  });
});

test.each(['[]', '{}', 'nonsense'])('%s is no list of models', (text) => expect(() => withoutSearch(text)).toThrow());

test('a program that hangs and is deaf to being asked to end costs a turn the time limit, no more', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'codex-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = path.join(folder, 'codex');
  writeFileSync(program, `#!${process.execPath}\nprocess.on('SIGTERM', () => undefined);\nsetTimeout(() => undefined, 8000);\n`, {
    mode: 0o700,
  });
  const warn = vi.fn();
  const log = { debug: () => undefined, info: () => undefined, warn };
  expect(await openModelCatalog({ program, env: {}, cwd: folder, log }, 500)).toBeNull();
  expect(warn).toHaveBeenCalledOnce();
}, 5000);
