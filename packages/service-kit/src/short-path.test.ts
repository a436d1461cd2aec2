import { expect, test } from 'vitest';
import { shortPath } from './short-path.ts';

test.each([
  ['/home/anna/.svc/secrets.json', '~/.svc/secrets.json'],
  ['/home/anna', '~'],
  ['/home/annabel/x', '/home/annabel/x'],
  ['/srv/x', '/srv/x'],
])('%s is shown as %s', (file, shown) => {
  expect(shortPath(file, '/home/anna')).toBe(shown);
});

test.each(['', '/'])('shortens nothing when the home folder is %j', (home) => {
  expect(shortPath('/etc/x', home)).toBe('/etc/x');
});
