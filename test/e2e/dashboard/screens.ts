import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../repository.ts';

const sourceOf = (file: string): string => readFileSync(path.join(root, 'apps/dashboard/app/src', file), 'utf8');

/** The paths of the app's routes, with `$name` for parameters. */
export const routes = (): string[] => [...sourceOf('routes.tsx').matchAll(/path: '([^']+)'/g)].map(([, place = '']) => place);

/** The paths of all screens and their views. `session`: the path of a session. */
export const screensWith = (session: string): string[] => [
  '/',
  '/chat',
  '/welcome/engine',
  '/welcome/message',
  '/welcome/channel',
  '/sessions',
  session,
  `${session}?tab=changes`,
  `${session}?tab=terminal`,
  `${session}?tab=facts`,
  '/search?q=x',
  '/people',
  '/channels',
  '/costs',
  '/activity',
  '/activity?tab=machine',
  '/activity?tab=audit',
  '/settings',
  ...[...sourceOf('screens/settings/sections.ts').matchAll(/section\(\s*'([\w-]+)'/g)].map(([, id]) => `/settings/${id}`),
];
