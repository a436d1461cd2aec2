import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { changeUpdateSettings, channelOf, readUpdateSettings } from './update-settings.ts';

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

test('the environment overrides the chosen channel, and the default is stable', () => {
  expect(channelOf(null, folder.path)).toBe('stable');
  changeUpdateSettings(folder.path, { channel: 'edge' });
  expect(channelOf(null, folder.path)).toBe('edge');
  expect(channelOf('stable', folder.path)).toBe('stable');
});

test('a change keeps the other settings', () => {
  changeUpdateSettings(folder.path, { auto: true });
  expect(changeUpdateSettings(folder.path, { channel: 'edge' })).toEqual({ channel: 'edge', auto: true });
  expect(readUpdateSettings(folder.path)).toEqual({ channel: 'edge', auto: true });
});

test('ignores a damaged file', () => {
  for (const text of ['{', 'null', '[]', '{"channel":"nightly","auto":"yes"}']) {
    writeFileSync(path.join(folder.path, 'update.json'), text);
    expect(readUpdateSettings(folder.path)).toEqual({ channel: null, auto: false });
  }
});
