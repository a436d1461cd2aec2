import { existsSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beginTrial, confirmTrial, readPointer, readTrial, revertTrial, setPointer } from './pointer.ts';

const [older, newer] = ['a'.repeat(40), 'b'.repeat(40)];
let folder: TemporaryFolder;
let places: UpdatePlaces;
beforeEach(() => {
  folder = temporaryFolder();
  places = updatePlaces(folder.path);
  mkdirSync(places.versions, { recursive: true });
});
afterEach(() => folder.remove());

test('the pointer is a relative symlink, which stays valid when the clone is moved', () => {
  expect(readPointer(places)).toBeNull();
  setPointer(places, older);
  expect(readPointer(places)).toBe(older);
  expect(readlinkSync(places.pointer)).toBe(`versions/${older}`);
  setPointer(places, newer);
  expect(readPointer(places)).toBe(newer);
  setPointer(places, null);
  expect(readPointer(places)).toBeNull();
});

test('a failed trial is rolled back once and its reason recorded', () => {
  setPointer(places, older);
  beginTrial(places, newer);
  expect(readTrial(places)).toEqual({ from: older, to: newer });
  expect(revertTrial(places, 'it ended with code 1')).toBe(true);
  expect(readPointer(places)).toBe(older);
  expect(readFileSync(places.reverted, 'utf8')).toContain('code 1');
  expect(readTrial(places)).toBeNull();
  expect(revertTrial(places, 'again')).toBe(false);
  expect(readPointer(places)).toBe(older);
});

test('the first trial is rolled back to the clone itself', () => {
  beginTrial(places, newer);
  expect(revertTrial(places, 'no')).toBe(true);
  expect(readPointer(places)).toBeNull();
});

test('a confirmed trial is not rolled back', () => {
  beginTrial(places, newer);
  confirmTrial(places);
  expect(revertTrial(places, 'too late')).toBe(false);
  expect(readPointer(places)).toBe(newer);
  expect(existsSync(places.reverted)).toBe(false);
});

test('a trial interrupted before the switch is only cleaned up', () => {
  beginTrial(places, newer);
  setPointer(places, older);
  expect(revertTrial(places, 'cut off')).toBe(false);
  expect(readTrial(places)).toBeNull();
});

test('a reason that cannot be recorded does not prevent the rollback', () => {
  setPointer(places, older);
  beginTrial(places, newer);
  mkdirSync(`${places.reverted}/taken`, { recursive: true });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  expect(revertTrial(places, 'it ended with code 1')).toBe(true);
  expect([readPointer(places), readTrial(places)]).toEqual([older, null]);
  expect(write).toHaveBeenCalledWith(expect.stringContaining('it ended with code 1'));
});
