import type { Static } from './schema.ts';

/** Where the name of an engine, a persona or a person ends: none of them has a blank or a control character in it. */
const word = '^[^\\s\\u0000-\\u001f\\u007f]+$';

/** The name of a persona: of its file in the folder `personas`, without the ending. */
export const personaNamePattern = '^[a-z0-9][a-z0-9-]{0,63}$';

/** An entry of `allow` that begins so names a role; any other one names a person by key or id. */
export const rolePrefix = 'role:';

/** What the core holds an instance to, whatever its connector says. */
export const ruleShapes = {
  engine: { type: 'string', minLength: 1, maxLength: 64, pattern: word },
  model: { type: 'string', minLength: 1, maxLength: 200, pattern: word },
  cwd: { type: 'string', minLength: 1, maxLength: 4096 },
  persona: { type: 'string', pattern: personaNamePattern },
  allow: { type: 'array', minItems: 1, maxItems: 200, items: { type: 'string', minLength: 1, maxLength: 256 } },
  public: { type: 'boolean' },
} as const;

export const instanceRulesSchema = { type: 'object', properties: ruleShapes, additionalProperties: false } as const;

/** The rules of one instance; what is missing is as everywhere else. */
export type InstanceRules = Static<typeof instanceRulesSchema>;
export type RuleName = keyof typeof ruleShapes;
export const ruleNames = Object.keys(ruleShapes) as RuleName[];

/** The marker of a field of `configSchema` that the core enforces: the manager hands its value to the core. */
export const enforcedByCore = { enforcedBy: 'core' } as const;

/** What the rules of all instances are in the file that the manager writes and the core reads, by the id of the instance. */
export const instanceRulesFileSchema = { type: 'object', additionalProperties: instanceRulesSchema } as const;
export type InstanceRulesFile = Record<string, InstanceRules>;

/** One rule that cannot be kept. `problem` goes on a sentence that begins with the field. */
export type RuleProblem = { field: string; problem: string };
