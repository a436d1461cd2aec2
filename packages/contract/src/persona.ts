import type { Tier, ToolPolicy } from './trust.ts';

/** Answer of `GET /v2/persona`. `file` is for the operator's own text, whether it exists or not. */
export type PersonaView = {
  text: string;
  bytes: number;
  source: 'built-in' | 'extended' | 'replaced';
  file: string;
  fault: string | null;
  /** The operator's own text, as it is in the file. */
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
      title: 'Previous text',
      description: 'The change is refused if the text is a different one by now.',
      maxLength: 16_384,
    },
  },
} as const;

/** A persona that replaces the usual one. `used_by`: the instances that name it. */
export type NamedPersona = { name: string; own: string; used_by: string[] };
/** Answer of `GET /v2/personas`. */
export type PersonaList = { personas: Omit<NamedPersona, 'own'>[] };

/** The tiers for which a persona can be shown. Lower ones never reach an engine. */
export const personaTiers = ['GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const satisfies readonly Tier[];
export type PersonaTier = (typeof personaTiers)[number];

/** Answer of `GET /v2/persona/:engine?tier=`: the instructions that an engine gets in a turn of that tier. */
export type EnginePersona = {
  engine: string;
  tier: PersonaTier;
  /** The tool policy of the built-in role of this tier. */
  tool_policy: ToolPolicy;
  text: string;
  bytes: number;
  source: PersonaView['source'];
  /** What the vendor's program adds itself, one line each. */
  added: readonly string[];
};
