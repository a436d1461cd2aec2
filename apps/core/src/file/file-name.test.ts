import { expect, test } from 'vitest';
import { kindOfMime, mimeOfName, plainMime } from './file-name.ts';

test.each([
  ['image/png', 'image'],
  ['audio/ogg', 'audio'],
  ['video/mp4', 'video'],
  ['text/plain', 'text'],
  ['application/json', 'text'],
  ['image/svg+xml', 'image'],
  ['application/pdf', 'document'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document'],
  ['application/zip', 'archive'],
  ['application/gzip', 'archive'],
  ['application/octet-stream', 'other'],
])('%s is of the kind %s', (mime, kind) => expect(kindOfMime(mime)).toBe(kind));

test.each([
  ['photo.JPG', 'image/jpeg'],
  ['notes.md', 'text/markdown'],
  ['data.csv', 'text/csv'],
  ['sheet.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['page.html', 'text/html'],
  ['backup.tar.gz', 'application/gzip'],
  ['Makefile', 'application/octet-stream'],
  ['a.none-such', 'application/octet-stream'],
])('%s is %s by its name', async (name, mime) => expect(await mimeOfName(name)).toBe(mime));

test.each([
  ['Image/PNG; charset=x', 'image/png'],
  ['application/octet-stream', null],
  ['application/x-www-form-urlencoded', null],
  ['text/html\r\nx: y', null],
  ['no type', null],
  [undefined, null],
])('%j says %j of a file', (said, mime) => expect(plainMime(said)).toBe(mime));
