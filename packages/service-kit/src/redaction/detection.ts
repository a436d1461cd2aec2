import { keyBlockStart } from './key-blocks.ts';
import { createKeywordTable, type KeywordTable } from './keyword-table.ts';
import { explicitAssignment, genericAssignment } from './rules/assignment-rules.ts';
import { publicRules } from './rules/public-rules.ts';
import { prefixRules } from './rules/prefix-rules.ts';
import type { DetectionRule } from './rules/rule.ts';
import { structureRules } from './rules/structure-rules.ts';
import { readVendorRules } from './rules/vendor-rules.ts';
import type { StreamRedactor } from './stream-redactor.ts';
import { createTextDetector } from './text-detector.ts';

/** Who may read the text. Public surfaces are masked more strictly. */
export type Audience = 'private' | 'public';

const tables = new Map<Audience, KeywordTable>();

/** Finds what has the form of a secret. The rules are read when the first text needs them and kept for the process. */
export const detect = (audience: Audience): StreamRedactor => createTextDetector(tableOf(audience), audience === 'public');

/** Reads the rules. @throws when they cannot be read: without them nothing may leave. */
export const loadDetection = (): void => void tableOf('private');

function tableOf(audience: Audience): KeywordTable {
  const made = tables.get(audience) ?? createKeywordTable(rulesFor(audience));
  tables.set(audience, made);
  return made;
}

function rulesFor(audience: Audience): DetectionRule[] {
  const { generic, rules } = readVendorRules();
  return [
    keyBlocks,
    ...structureRules,
    ...prefixRules,
    ...rules,
    genericAssignment(generic, audience === 'private'),
    explicitAssignment,
    ...(audience === 'public' ? publicRules : []),
  ];
}

/** The blocks themselves are masked as the text passes; here are only the words that begin one. */
const keyBlocks: DetectionRule = {
  id: 'private-key',
  triggers: [{ opening: 'key-block', words: keyBlockStart.words }],
  find: () => [],
};
