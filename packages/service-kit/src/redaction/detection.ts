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

/** Log lines are many, short and full of names like `key`, so rules that are costly to tell from ordinary text do not run there. */
type RuleSet = Audience | 'log';

const tables = new Map<string, KeywordTable>();

/**
 * Finds text that has the form of a secret. The rules are loaded for the first text and kept for the life of the process.
 * `linkHosts`: hosts that links on public surfaces may point to; any when empty.
 */
export const detect = (audience: Audience, linkHosts: readonly string[] = []): StreamRedactor =>
  createTextDetector(tableOf(audience, linkHosts), audience === 'public');

/** Like `detect`, for log lines. */
export const detectInLog = (): StreamRedactor => createTextDetector(tableOf('log'), false);

/** Loads the rules. @throws when they cannot be read: without them nothing may be sent. */
export const loadDetection = (): void => void tableOf('private');

/** The keywords and rules of a set, made once for the process. */
export function tableOf(ruleSet: RuleSet, linkHosts: readonly string[] = []): KeywordTable {
  const key = [ruleSet, ...linkHosts].join(' ');
  const made = tables.get(key) ?? createKeywordTable(ruleSet === 'log' ? logRules() : rulesFor(ruleSet, linkHosts));
  tables.set(key, made);
  return made;
}

/** The rules that use no expression of the vendored set, except for tokens with a fixed prefix. */
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

/** Only the words that begin a key block. The block itself is masked as the text passes. */
const keyBlocks: DetectionRule = {
  id: 'private-key',
  triggers: [{ opening: 'key-block', words: keyBlockStart.words }],
  find: () => [],
};
