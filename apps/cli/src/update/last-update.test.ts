import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { readLastUpdate, writeLastUpdate, writeStoppedUpdate } from './last-update.ts';

const version = (name: string) => ({ commit: name, version: name, name });
const ended = { id: 'x', words: 'why', from: version('1'), endedAt: 1, gapMs: null };

function openPlaces() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  return { last: path.join(folder.path, 'last.json') };
}

test('an update that needs manual steps is recorded and held, keeping the rollback target and the rejected version', () => {
  const places = openPlaces();
  writeLastUpdate(places, { ...ended, code: 0, from: version('0'), to: version('1') }, false);
  writeLastUpdate(places, { ...ended, code: 2, to: version('2') }, false);
  writeStoppedUpdate(places, { ...ended, code: 3, words: 'no way back', to: version('3') });
  expect(readLastUpdate(places)).toMatchObject({
    code: 3,
    words: 'no way back',
    to: version('3'),
    back: version('0'),
    refused: '2',
    held: '3',
  });
  writeLastUpdate(places, { ...ended, code: 0, to: version('2.5') }, false);
  expect(readLastUpdate(places)).toMatchObject({ code: 0, refused: null, held: null });
});

test('an update stopped by a passing failure is recorded and can be retried', () => {
  const places = openPlaces();
  writeStoppedUpdate(places, { ...ended, code: 3, words: 'the disk is full', to: version('3'), isPassing: true });
  expect(readLastUpdate(places)).toMatchObject({ words: 'the disk is full', refused: null, held: null });
});
