import { expect, test } from 'vitest';
import { isPlainPath, kindOfMime, mimeOfName, plainMime, safeFileName } from './file-name.ts';

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
])('%s is a file of kind %s', (mime, kind) => expect(kindOfMime(mime)).toBe(kind));

test.each([
  ['photo.JPG', 'image/jpeg'],
  ['notes.md', 'text/markdown'],
  ['data.csv', 'text/csv'],
  ['sheet.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['page.html', 'text/html'],
  ['backup.tar.gz', 'application/gzip'],
  ['Makefile', 'application/octet-stream'],
  ['a.none-such', 'application/octet-stream'],
])('the type of %s is guessed as %s', async (name, mime) => expect(await mimeOfName(name)).toBe(mime));

test.each([
  ['Image/PNG; charset=x', 'image/png'],
  ['application/octet-stream', null],
  ['application/x-www-form-urlencoded', null],
  [' text/html ;charset=x', 'text/html'],
  ['text/html\r\nx: y', null],
  ['x: y\r\ntext/html', null],
  ['no type', null],
  [undefined, null],
])('the sent type %j becomes %j', (said, mime) => expect(plainMime(said)).toBe(mime));

test.each([
  ['photo.png', 'photo.png'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\a\\evil.bat', 'evil.bat'],
  ['a/b\\c', 'c'],
  ['.', 'file'],
  ['..', 'file'],
  ['a/', 'file'],
  ['', 'file'],
  ['.staging', 'staging'],
  [' - .-rf', 'rf'],
  ['a. . ', 'a'],
  ['a.b. c', 'a.b. c'],
  ['a\0b\r\nc\u202egnp.exe', 'abcgnp.exe'],
  ['a\u2028b\u2029c\u200bd\ufeffe', 'abcde'],
  ['a<b>c:d"e|f?g*h', 'a_b_c_d_e_f_g_h'],
  ['a\ud800b', 'a\ufffdb'],
  ['A\u030a', '\u00c5'],
])('the sent file name %j becomes %j', (said, name) => {
  expect(safeFileName(said)).toBe(name);
});

test('a name over 150 bytes is shortened in the middle, without splitting a character, and keeps its extension', () => {
  const longest = `${'n'.repeat(146)}.png`;
  expect(safeFileName(longest)).toBe(longest);
  expect(safeFileName(`n${longest}`)).toBe(longest);
  const faces = safeFileName(`${'\u{1f600}'.repeat(80)}.png`);
  expect([faces.endsWith('\u{1f600}.png'), Buffer.byteLength(faces), faces.isWellFormed()]).toEqual([true, 148, true]);
  expect(safeFileName(`a.${'e'.repeat(200)}`)).toBe(`a.${'e'.repeat(128)}.${'e'.repeat(19)}`);
});

test.each([
  'a',
  'notes/plan.md',
  '.hidden/..a',
  'a b/\u00e4',
  Array.from({ length: 16 }, () => 'd').join('/'),
  'n'.repeat(255),
  Array.from({ length: 4 }, () => 'n'.repeat(255)).join('/'),
])('accepts %j as a path within a folder', (name) => expect(isPlainPath(name)).toBe(true));

test.each([
  '',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/./b',
  'a/../../b',
  'a\\..\\b',
  'a\0b',
  'a\nb',
  'a\u0085b',
  'a\ud800',
  Array.from({ length: 17 }, () => 'd').join('/'),
  'n'.repeat(256),
  '\u00e4'.repeat(128),
  Array.from({ length: 5 }, () => 'n'.repeat(205)).join('/'),
])('rejects %j as a path within a folder', (name) => expect(isPlainPath(name)).toBe(false));
