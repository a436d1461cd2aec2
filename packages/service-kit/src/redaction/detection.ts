import { keyBlockStart } from './key-blocks.ts';
import { createKeywordTable, type KeywordTable } from './keyword-table.ts';
import { addressRules } from './rules/address-rules.ts';
import { explicitAssignment, genericAssignment } from './rules/assignment-rules.ts';
import { foreignLinks, publicRules } from './rules/public-rules.ts';
import { prefixRules } from './rules/prefix-rules.ts';
import type { DetectionRule } from './rules/rule.ts';
import { structureRules } from './rules/structure-rules.ts';
import { readVendorRules } from './rules/vendor-rules.ts';
import type { StreamRedactor } from './stream-redactor.ts';
import { createTextDetector } from './text-detector.ts';

/** Who may read the text. Public surfaces are masked more strictly. */
export type Audience = 'private' | 'public';

/** Lines of a log are many, short and full of names like `key`: what is costly to separate from ordinary text is not asked there. */
type RuleSet = Audience | 'log';

const tables = new Map<string, KeywordTable>();

/**
 * Finds what has the form of a secret. The rules are read when the first text needs them and kept for the process.
 * `linkHosts`: where links for the public may lead; anywhere when it is empty.
 */
export const detect = (audience: Audience, linkHosts: readonly string[] = []): StreamRedactor =>
  createTextDetector(tableOf(audience, linkHosts), audience === 'public');

/** The same for lines of a log. */
export const detectInLog = (): StreamRedactor => createTextDetector(tableOf('log'), false);

/** Reads the rules. @throws when they cannot be read: without them nothing may leave. */
export const loadDetection = (): void => void tableOf('private');

/** The keywords and rules of a set, made once for the process. */
export function tableOf(ruleSet: RuleSet, linkHosts: readonly string[] = []): KeywordTable {
  const key = [ruleSet, ...linkHosts].join(' ');
  const made = tables.get(key) ?? createKeywordTable(ruleSet === 'log' ? logRules() : rulesFor(ruleSet, linkHosts));
  tables.set(key, made);
  return made;
}

/** All that needs no expression of the vendored set but for a token whose beginning was seen. */
function logRules(): DetectionRule[] {
  const tokens = readVendorRules().rules.filter(({ triggers }) => triggers.every(({ opening }) => opening === 'token'));
  return [keyBlocks, ...structureRules, ...addressRules, ...prefixRules, ...tokens, explicitAssignment];
}

function rulesFor(audience: Audience, linkHosts: readonly string[]): DetectionRule[] {
  const { generic, rules } = readVendorRules();
  return [
    keyBlocks,
    ...structureRules,
    ...addressRules,
    ...prefixRules,
    ...rules,
    genericAssignment(generic, audience === 'private'),
    explicitAssignment,
    ...(audience === 'public' ? publicRules : []),
    ...(audience === 'public' && linkHosts.length > 0 ? [foreignLinks(linkHosts)] : []),
  ];
}

/** The blocks themselves are masked as the text passes; here are only the words that begin one. */
const keyBlocks: DetectionRule = {
  id: 'private-key',
  triggers: [{ opening: 'key-block', words: keyBlockStart.words }],
  find: () => [],
};
