import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openModelCatalogs, parseModels, toCatalog } from './model-catalog.ts';

test('removes agents, code and other tools from model entries, and the edit tool from those for reading', () => {
  const model = {
    slug: 'a',
    context_window: 5,
    multi_agent_version: 'v2',
    tool_mode: 'code_mode_only',
    experimental_supported_tools: ['clock'],
    supports_search_tool: true,
    apply_patch_tool_type: 'freeform',
    base_instructions: 'long',
  };
  const common = { slug: 'a', context_window: 5, experimental_supported_tools: [], supports_search_tool: false };
  const [reader] = parseModels(toCatalog([model], 'reader'));
  const [writer] = parseModels(toCatalog([model], 'writer'));
  expect(reader).toMatchObject(common);
  for (const name of ['multi_agent_version', 'tool_mode', 'apply_patch_tool_type']) expect(reader).not.toHaveProperty(name);
  expect(writer).toMatchObject({ ...common, apply_patch_tool_type: 'freeform' });
  for (const name of ['multi_agent_version', 'tool_mode']) expect(writer).not.toHaveProperty(name);
});

test.each(['[]', '{}', 'nonsense'])('parseModels() rejects %s', (text) => expect(() => parseModels(text)).toThrow());

test('a program that hangs and ignores SIGTERM delays a turn only until the time limit', async () => {
  const temporary = temporaryFolder();
  const folder = temporary.path;
  onTestFinished(() => temporary.remove());
  const program = path.join(folder, 'codex');
  writeFileSync(program, '#!/bin/sh\ntrap "" TERM\nsleep 8\n', { mode: 0o700 });
  await expect(openModelCatalogs({ program, env: {}, cwd: folder }, 500)).rejects.toThrow('took too long');
}, 5000);
