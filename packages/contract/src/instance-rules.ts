import type { Static } from './schema.ts';

/** The names of engines and models contain no blanks or control characters. */
const word = '^[^\\s\\u0000-\\u001f\\u007f]+$';

/** The name of a persona: that of its file in the folder `personas`, without the extension. */
export const personaNamePattern = '^[a-z0-9][a-z0-9-]{0,63}$';

/** An entry of `allow` with this prefix names a role; any other names a person by key or id. */
export const rolePrefix = 'role:';

/** The rules that the core enforces for an instance, whatever its connector sends. */
export const ruleShapes = {
  engine: { type: 'string', minLength: 1, maxLength: 64, pattern: word },
  model: { type: 'string', minLength: 1, maxLength: 200, pattern: word },
  cwd: { type: 'string', minLength: 1, maxLength: 4096 },
  persona: { type: 'string', pattern: personaNamePattern },
  allow: { type: 'array', minItems: 1, maxItems: 200, items: { type: 'string', minLength: 1, maxLength: 256 } },
  public: { type: 'boolean' },
} as const;

export const instanceRulesSchema = { type: 'object', properties: ruleShapes, additionalProperties: false } as const;

/** The rules of one instance; for a missing rule, the general setting applies. */
export type InstanceRules = Static<typeof instanceRulesSchema>;
export type RuleName = keyof typeof ruleShapes;
export const ruleNames = Object.keys(ruleShapes) as RuleName[];

/** Marks a field of `configSchema` that the core enforces: the manager passes its value to the core. */
export const enforcedByCore = { enforcedBy: 'core' } as const;

/** The rules of all instances by id, in the file that the manager writes and the core reads. */
export const instanceRulesFileSchema = { type: 'object', additionalProperties: instanceRulesSchema } as const;
export type InstanceRulesFile = Record<string, InstanceRules>;

/** A rule that cannot be enforced. `problem` continues a sentence that begins with the field. */
export type RuleProblem = { field: string; problem: string };
