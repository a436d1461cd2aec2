import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { writeUpdateCheck } from '@svc/service-kit/update/update-files.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { writeJournal } from '../update/journal.ts';
import { writeLastUpdate, writeStoppedUpdate } from '../update/last-update.ts';
import { beginTrial } from '../update/pointer.ts';
import { examineUpdate } from './examine-update.ts';

const version = (name: string) => ({ commit: name.repeat(40), version: name, name });
const [from, to] = [version('a'), version('b')];
const ended = { id: 'x', from, to, endedAt: 1, gapMs: null };

function openClone() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const places = updatePlaces(folder.path);
  for (const made of [`${places.home}/.git`, places.versions, places.folder]) mkdirSync(made, { recursive: true });
  return {
    places,
    look: () => examineUpdate({ root: places.home, dataDir: places.home, updateManaged: null, updateArchives: null }),
  };
}

test('a version left on trial by an interrupted update is a problem, with the command that repairs it', () => {
  const { places, look } = openClone();
  expect(look()).toEqual([]);
  const journal = { id: 'x', startedAt: 1, phase: 'trying', from, to, isEdge: false, isRollback: false } as const;
  writeJournal(places, journal);
  beginTrial(places, to.commit);
  expect(look(), 'while it runs').toEqual([]);
  // As written by a process that has ended.
  writeFileSync(places.journal, JSON.stringify({ ...journal, pid: 2 ** 30, born: null }));
  expect(look()).toEqual([
    {
      name: 'update',
      state: 'problem',
      text: expect.stringMatching(/to b was interrupted; it is on trial/),
      fix: './svc update --repair',
    },
  ]);
});

test('the reason of a rolled-back update is a note, that of a passing failure is not', () => {
  const { places, look } = openClone();
  writeStoppedUpdate(places, { ...ended, code: 3, words: 'The disk is full.', isPassing: true });
  expect(look()).toEqual([]);
  writeLastUpdate(places, { ...ended, code: 2, words: 'b was rolled back: it ended.\nMore.' }, false);
  expect(look()).toEqual([
    expect.objectContaining({ state: 'note', text: 'the last one was not kept: b was rolled back: it ended.' }),
  ]);
  writeLastUpdate(places, { ...ended, code: 0, words: 'Updated.' }, false);
  expect(look()).toEqual([]);
});

test('a published version that is invalid is a problem while the last check found it so', () => {
  const { places, look } = openClone();
  const refused = [expect.objectContaining({ state: 'problem', text: 'It is not signed.' })];
  writeStoppedUpdate(places, { ...ended, code: 3, words: 'It is not signed.\nMore.', isPassing: true, isRefused: true });
  expect(look()).toEqual(refused);
  const check = { code: 3, words: 'It is not signed.', to: null, checked_at: 2 };
  writeUpdateCheck(places.home, { ...check, words: 'The network is away.' });
  expect(look()).toEqual([]);
  writeUpdateCheck(places.home, { ...check, refused: true });
  expect(look()).toEqual(refused);
  writeLastUpdate(places, { ...ended, code: 0, words: 'Updated.', endedAt: 3 }, false);
  expect(look()).toEqual([]);
});
