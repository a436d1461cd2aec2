import { enforcedByCore, ruleShapes } from '@svc/contract/instance-rules.ts';
import { intakeConfig } from './intake-config.ts';

/** How a growing reply is shown: while it is written, only when it is complete, or in its finished parts with the tools between them. */
export const replyStyles = ['stream', 'final', 'steps'] as const;
export type ReplyStyle = (typeof replyStyles)[number];

const fields = {
  engine: {
    ...ruleShapes.engine,
    ...enforcedByCore,
    title: 'Engine',
    description: 'Engine that answers here instead of the default engine (./svc engine).',
  },
  model: { ...ruleShapes.model, ...enforcedByCore, title: 'Model', description: 'Model of this engine.' },
  cwd: {
    ...ruleShapes.cwd,
    ...enforcedByCore,
    title: 'Working folder',
    description: 'Absolute path, used for people with every right. The same as ./svc folder set --instance.',
  },
  persona: {
    ...ruleShapes.persona,
    ...enforcedByCore,
    title: 'Persona',
    description: 'NAME of a file personas/NAME.md in the data folder, used instead of persona.md.',
  },
  allow: {
    ...ruleShapes.allow,
    ...enforcedByCore,
    title: 'Open to',
    description: 'Keys of people, and role:NAME. Only they are answered. If not set, everyone who is known is answered.',
  },
  public: {
    ...ruleShapes.public,
    ...enforcedByCore,
    title: 'Public',
    description: 'Others can read everything here: replies are masked more strictly, and nobody has more rights than "trusted".',
  },
  mention_only: {
    type: 'boolean',
    title: 'Only when mentioned',
    description: 'In rooms, messages that do not mention the assistant are read but not answered.',
    default: false,
  },
  reply_style: {
    type: 'string',
    enum: replyStyles,
    title: 'Reply style',
    description: '"stream" shows a reply while it is written, "steps" shows each finished part, "final" only the whole reply.',
    default: 'stream',
  },
  ...intakeConfig,
} as const;

export type CommonField = keyof typeof fields;

/**
 * Config fields that are the same on every channel. A type names those that make sense for it and spreads them into
 * `configSchema.properties`. The core enforces the first six itself, the kit the others.
 */
export function commonFields<const Name extends CommonField>(...names: Name[]): Pick<typeof fields, Name> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<typeof fields, Name>;
}
