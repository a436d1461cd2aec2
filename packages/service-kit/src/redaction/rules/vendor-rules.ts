import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { RE2JS } from 're2js';
import type { Found, Trigger } from './rule.ts';
import { entropyOf } from './values.ts';

type RuleData = {
  id: string;
  regex: string;
  triggers: Trigger[];
  entropy?: number;
  group?: number;
  allow?: { target: string; pattern: string }[];
  stopWords?: string[];
};
type RuleFile = { shared: { allow: string[]; stopWords: string[] }; generic: RuleData; rules: RuleData[] };

/** One rule of the vendored set. Its expression is compiled when it is first needed. */
export type VendorRule = {
  id: string;
  /** In RE2's syntax. */
  pattern: string;
  triggers: readonly Trigger[];
  /** `nameFrom`: where the whole match begins. */
  find(text: string): (Found & { nameFrom: number })[];
};

export function readVendorRules(): { generic: VendorRule; rules: VendorRule[] } {
  const file = path.join(import.meta.dirname, 'vendor-rules.json');
  const { shared, generic, rules } = JSON.parse(readFileSync(file, 'utf8')) as RuleFile;
  const sharedAllow = lazily(() => shared.allow.map(compile));
  const toRule = (data: RuleData) => toVendorRule(data, sharedAllow, shared.stopWords);
  return { generic: toRule(generic), rules: rules.map(toRule) };
}

function toVendorRule(data: RuleData, sharedAllow: () => RE2JS[], sharedStops: readonly string[]): VendorRule {
  const { id, triggers, entropy = 0, group = 0, allow = [], stopWords = [] } = data;
  const regex = lazily(() => compile(data.regex));
  const allowed = lazily(() => allow.map(({ target, pattern }) => ({ target, pattern: compile(pattern) })));
  const stops = [...sharedStops, ...stopWords];

  const isAllowed = (secret: string, match: string, line: string): boolean => {
    const lower = secret.toLowerCase();
    return (
      stops.some((word) => lower.includes(word)) ||
      sharedAllow().some((pattern) => pattern.matcher(secret).find()) ||
      allowed().some(({ target, pattern }) =>
        pattern.matcher(target === 'match' ? match : target === 'line' ? line : secret).find(),
      )
    );
  };

  const find = (text: string) => {
    const kind = triggers.some(({ opening }) => opening === 'token') ? 'token' : 'credential';
    const found: (Found & { nameFrom: number })[] = [];
    const matcher = regex().matcher(text);
    while (matcher.find()) {
      const masked = group > 0 ? group : firstGroup(matcher);
      const [from, to] = [matcher.start(masked), matcher.end(masked)];
      const secret = text.slice(from, to);
      if (entropyOf(secret) <= entropy || isAllowed(secret, matcher.group() ?? '', lineAround(text, from, to))) continue;
      found.push({ from, to, kind, nameFrom: matcher.start() });
    }
    return found;
  };
  return { id, pattern: data.regex, triggers, find };
}

/** The first group that took part is the secret; without one, the match is. */
function firstGroup(matcher: { groupCount(): number; start(group: number): number; end(group: number): number }): number {
  for (let group = 1; group <= matcher.groupCount(); group++) {
    if (matcher.start(group) >= 0 && matcher.end(group) > matcher.start(group)) return group;
  }
  return 0;
}

const lineAround = (text: string, from: number, to: number): string => {
  const end = text.indexOf('\n', to);
  return text.slice(text.lastIndexOf('\n', from) + 1, end === -1 ? undefined : end);
};

// The engine of these expressions costs 6 MB: a process that meets no keyword with a value does without.
const engine = lazily(() => createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS });

const compile = (pattern: string): RE2JS => engine().RE2JS.compile(pattern);

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
