import type { Tier, ToolPolicy } from './trust.ts';

/** Answer of `GET /v2/persona`. `file` is where the operator's own words go, there or not. */
export type PersonaView = {
  text: string;
  bytes: number;
  source: 'built-in' | 'extended' | 'replaced';
  file: string;
  fault: string | null;
  /** The operator's own words, as they stand in the file. */
  own: string;
};

/** Body of `PUT /v2/persona` and `PUT /v2/personas/:name`. */
export const personaWriteSchema = {
  type: 'object',
  required: ['own'],
  additionalProperties: false,
  properties: {
    own: { type: 'string', title: 'Words of your own', description: 'At most 16 KiB.', maxLength: 16_384 },
    was: {
      type: 'string',
      title: 'What stood there',
      description: 'Refused when something else stands there by now.',
      maxLength: 16_384,
    },
  },
} as const;

/** A persona that stands in place of the usual one. `used_by`: the instances that name it. */
export type NamedPersona = { name: string; own: string; used_by: string[] };
/** Answer of `GET /v2/personas`. */
export type PersonaList = { personas: Omit<NamedPersona, 'own'>[] };

/** Whose turns a persona can be shown for: below them nobody reaches an engine. */
export const personaTiers = ['GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const satisfies readonly Tier[];
export type PersonaTier = (typeof personaTiers)[number];

/** Answer of `GET /v2/persona/:engine?tier=`: what an engine gives its program as instructions in a turn of that tier. */
export type EnginePersona = {
  engine: string;
  tier: PersonaTier;
  /** What the service's own role of this tier may do. */
  tool_policy: ToolPolicy;
  text: string;
  bytes: number;
  source: PersonaView['source'];
  /** What the vendor's program adds by itself, a line each. */
  added: readonly string[];
};
