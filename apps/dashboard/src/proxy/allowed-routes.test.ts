import { expect, test } from 'vitest';
import { allowedRoutes } from './allowed-routes.ts';
import { ordinaryChanges } from '../../test/ordinary-changes.ts';

const lineOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const marked = allowedRoutes.filter(({ isDangerous }) => isDangerous).map(lineOf);

test('every route has a method and a path and is listed once', () => {
  const all = allowedRoutes.map(({ backend, method, path }) => `${backend} ${method} ${path}`);
  expect(all.filter((line) => !/^\w+ (?:GET|POST|PUT|PATCH|DELETE) \/[\w/:-]+$/.test(line))).toEqual([]);
  expect(new Set(all).size).toBe(all.length);
});

test('every route that changes something is marked as dangerous or listed as ordinary with a reason', () => {
  const changes = allowedRoutes.filter(({ method }) => method !== 'GET').map(lineOf);
  const isOrdinary = (line: string) => (ordinaryChanges[line]?.split(' ').length ?? 0) >= 2;
  expect(changes.filter((line) => marked.includes(line) === isOrdinary(line))).toEqual([]);
  expect(Object.keys(ordinaryChanges).filter((line) => !changes.includes(line))).toEqual([]);
});

test.each([
  ['secrets and keys', /secret|apikey|base-url|\/keys?(?:\/|$)/],
  ['the vault, opened and closed', /vault\/(?!status)/],
  [
    'roles, new people and new ways in',
    /^(?:POST|PUT|DELETE) \/trust\/(?:roles|principals$|principals\/:id$|principals\/:id\/identifiers|invitations$)/,
  ],
  ['removing a person', /erase|^DELETE \/v2\/silos/],
  ['tool servers, which run commands', /^(?!GET).*\/mcp/],
  ['backups: made, downloaded, removed, restored', /^(?!GET \/v2\/backups$).*\/backups/],
  ['updates', /^(?!GET).*\/update/],
  ['terminals and what is typed into them', /^(?!GET).*\/terminals|send-keys/],
  ['ending programs', /control\/(?:kill|restart)/],
  ['folders that turns work in', /^(?!GET).*\/folders/],
  [
    'channels: added, set, removed, and what devices do',
    /^(?:POST \/instances|PATCH \/instances\/:id|DELETE \/instances\/:id|POST .*\/call)$/,
  ],
])('marked as dangerous: %s', (_what, lines) => {
  const found = allowedRoutes.map(lineOf).filter((line) => lines.test(line));
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((line) => !marked.includes(line))).toEqual([]);
});
