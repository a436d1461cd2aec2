import type { ManifestEntry } from '@svc/contract/upload.ts';
import { expect, test } from 'vitest';
import { uploadFilter, type UploadQuery } from './upload-filter.ts';

const file = { id: 'upl_1', path: '/x', mime: 'image/png', bytes: 1, sha256: '', created_at: 0 } as const;
const files: ManifestEntry[] = [
  { ...file, name: 'Holiday.PNG', kind: 'image', conversation_key: 'messenger:m:user:4711' },
  { ...file, name: 'notes.txt', kind: 'text', conversation_key: null },
];
const found = (query: UploadQuery) => files.filter(uploadFilter(query)).map(({ name }) => name);

test('files are filtered by part of their name or conversation, ignoring case, and by kind', () => {
  expect(found({})).toEqual(['Holiday.PNG', 'notes.txt']);
  expect(found({ text: ' holi' })).toEqual(['Holiday.PNG']);
  expect(found({ text: 'USER:4711' })).toEqual(['Holiday.PNG']);
  expect(found({ kind: 'text' })).toEqual(['notes.txt']);
  expect(found({ text: 'holiday', kind: 'text' })).toEqual([]);
});

test('an unknown kind is rejected with the list of kinds', () => {
  expect(() => uploadFilter({ kind: 'picture' })).toThrow(/"picture".*image, audio/);
});
