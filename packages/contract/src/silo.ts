import { tiers, type Tier } from './trust.ts';

/** A named private file store of the core. `encrypted`: its files are sealed at rest by a key that the vault wraps. */
export type Silo = {
  id: string;
  name: string;
  /** Callers below this tier have no access. */
  min_trust: Tier;
  encrypted: boolean;
  files: number;
  bytes: number;
  created_at: number;
};

/** A file of a silo. `bytes` and `sha256` are those of its plain content. */
export type SiloFile = {
  path: string;
  bytes: number;
  sha256: string;
  mime: string;
  encrypted: boolean;
  created_at: number;
  updated_at: number;
};

/** Body of `POST /v2/silos`. */
export const siloSchema = {
  type: 'object',
  required: ['name', 'min_trust'],
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: '1 to 64 of a-z, 0-9, "_" and "-".',
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
    },
    min_trust: { type: 'string', title: 'Minimum trust', description: 'Callers with less trust have no access.', enum: tiers },
  },
} as const;
