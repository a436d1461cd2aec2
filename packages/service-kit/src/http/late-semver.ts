import { createRequire } from 'node:module';
import { lazily } from '../lazily.ts';

type Semver = Record<'coerce' | 'gt' | 'satisfies', (...of: unknown[]) => unknown>;

const require = createRequire(import.meta.url);
/** As Fastify would find it. */
const semver = lazily(() => createRequire(require.resolve('fastify'))('semver') as Semver);

/**
 * What Fastify uses of `semver` to check which version a plugin needs. Its fifty files are loaded with the first such plugin: most processes have
 * none, and loading them would take a twentieth of their start. See `own-imports.ts`.
 */
export const coerce: Semver['coerce'] = (...of) => semver().coerce(...of);
export const gt: Semver['gt'] = (...of) => semver().gt(...of);
export const satisfies: Semver['satisfies'] = (...of) => semver().satisfies(...of);
