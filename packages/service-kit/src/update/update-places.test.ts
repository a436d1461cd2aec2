import { expect, test } from 'vitest';
import { installationHome, updatePlaces } from './update-places.ts';

test('a version folder belongs to its clone, any other folder to itself', () => {
  const home = '/home/ann/my gateway';
  expect(installationHome(`${updatePlaces(home).versions}/${'a'.repeat(40)}`)).toBe(home);
  for (const other of [
    home,
    `${home}/.runtime`,
    `${home}/.runtime/versions/x`,
    `${home}/.runtime/versions/${'a'.repeat(40)}/apps`,
  ])
    expect(installationHome(other)).toBe(other);
});
