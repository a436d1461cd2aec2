import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';

/**
 * Writes the vendored rules of secret detection from a gitleaks configuration:
 * `node scripts/write-secret-rules.ts <gitleaks.toml> <licence file>`. Rules that only look at file paths are left out.
 */
const folder = path.resolve(import.meta.dirname, '../packages/service-kit/src/redaction/rules');

type Allow = { regexes?: string[]; regexTarget?: string; stopwords?: string[] };
type Rule = {
  id: string;
  regex?: string;
  keywords?: string[];
  entropy?: number;
  secretGroup?: number;
  allowlists?: Allow[];
};
type Config = { rules: Rule[]; allowlist: Allow };

/** The part between a name and its value, the same in every rule that looks for `name = value`. */
const assignment = String.raw`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`;

/** Replaced by our own rules for structures, which also work on streams. */
const ownRules = new Set([
  'private-key',
  'jwt',
  'curl-auth-header',
  'curl-auth-user',
  'kubernetes-secret-yaml',
  'generic-api-key',
]);

/** Replacements for keywords that are not at the beginning of the token. */
const betterKeywords: Readonly<Record<string, string[]>> = {
  'airtable-personnal-access-token': ['pat'],
  'openai-api-key': ['sk-'],
};

/** Rules whose keywords occur within many words, so they count only at the beginning of a word. */
const boundKeywords = new Set(['twilio-api-key', 'vault-service-token']);

/** Rules for `name = value` that do not contain the usual `assignment` part. */
const otherAssignments = new Set([
  'facebook-access-token',
  'sourcegraph-access-token',
  'freemius-secret-key',
  'nuget-config-password',
]);

/** Rules whose matches do not begin at a keyword: it is within the value, or the address begins before it. */
const searched = new Set([
  'azure-ad-client-secret',
  'facebook-access-token',
  'freemius-secret-key',
  'hashicorp-tf-api-token',
  'lob-api-key',
  'lob-pub-api-key',
  'maxmind-license-key',
  'microsoft-teams-webhook',
  'new-relic-browser-api-token',
  'new-relic-insert-key',
  'new-relic-user-api-key',
  'sidekiq-sensitive-url',
  'slack-webhook-url',
  'sourcegraph-access-token',
  'typeform-api-token',
  'nuget-config-password',
]);

export function secretRules(toml: string): string {
  const config = parse(toml) as unknown as Config;
  const generic = config.rules.find(({ id }) => id === 'generic-api-key');
  const rules = config.rules.flatMap((rule) =>
    rule.regex === undefined || ownRules.has(rule.id) ? [] : [toRule(rule, rule.regex)],
  );
  const shared = { allow: config.allowlist.regexes, stopWords: config.allowlist.stopwords };
  const data = {
    source: 'gitleaks/gitleaks config/gitleaks.toml, MIT, see gitleaks.LICENSE; written by scripts/write-secret-rules.ts',
    shared,
    generic: toRule(generic ?? { id: 'generic-api-key' }, generic?.regex ?? ''),
    rules,
  };
  return `${JSON.stringify(data, null, 1)}\n`;
}

function toRule({ id, keywords = [], entropy = 0, secretGroup, allowlists = [] }: Rule, regex: string) {
  const allow = allowlists.flatMap(({ regexes = [], regexTarget = 'secret' }) =>
    regexes.map((pattern) => ({ target: regexTarget, pattern })),
  );
  const stopWords = allowlists.flatMap(({ stopwords = [] }) => stopwords);
  return {
    id,
    ...(searched.has(id) && { isSearched: true }),
    regex,
    triggers: toTriggers(id, regex, betterKeywords[id] ?? keywords),
    ...(entropy > 0 && { entropy }),
    ...(secretGroup !== undefined && { group: secretGroup }),
    ...(allow.length > 0 && { allow }),
    ...(stopWords.length > 0 && { stopWords }),
  };
}

/** Where a rule is tried: at the name of an assignment, at the beginning of a token, or at a token that counts only as the value of a name. */
function toTriggers(id: string, regex: string, keywords: readonly string[]) {
  if (!regex.includes(assignment) && !otherAssignments.has(id)) {
    return [{ opening: 'token', words: keywords, ...((boundKeywords.has(id) || isBound(regex, keywords)) && { isBound: true }) }];
  }
  const value = regex
    .slice(regex.lastIndexOf(assignment) + 1)
    .replaceAll(/\\(?=\W)/g, '')
    .toLowerCase();
  const { names = [], values = [] } = Object.groupBy(keywords, (word) =>
    /[_.-]$/.test(word) && value.includes(word) ? 'values' : 'names',
  );
  return [
    ...(names.length > 0 ? [{ opening: 'assignment', words: names }] : []),
    ...(values.length > 0 ? [{ opening: 'assigned-token', words: values }] : []),
  ];
}

/** True when the expression begins with a word boundary and then with each of the keywords. */
function isBound(regex: string, keywords: readonly string[]): boolean {
  if (!/^(?:\(\?i\))?\\b/.test(regex)) return false;
  const start = regex.replace(/^(?:\(\?i\)|\\b|\((?!\?))+/, '').toLowerCase();
  return keywords.every((word) => start.startsWith(word.slice(0, 3)));
}

if (import.meta.main) {
  const [toml, licence] = process.argv.slice(2);
  if (toml === undefined || licence === undefined) throw new Error('usage: write-secret-rules.ts <gitleaks.toml> <licence>');
  writeFileSync(path.join(folder, 'vendor-rules.json'), secretRules(readFileSync(toml, 'utf8')));
  copyFileSync(licence, path.join(folder, 'gitleaks.LICENSE'));
}
