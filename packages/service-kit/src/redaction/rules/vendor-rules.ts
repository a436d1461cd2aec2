import { readFileSync } from 'node:fs';
import path from 'node:path';
import { lazily } from '../../lazily.ts';
import { buildStates } from '../keyword-table.ts';
import { toNativePattern } from './native-pattern.ts';
import { hitsIn, takeAt, type Found, type Trigger } from './rule.ts';
import { entropyOf } from './values.ts';

type RuleData = {
  id: string;
  /** True when its matches do not begin at a keyword. */
  isSearched?: boolean;
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
  /** `nameFrom`: where the whole match begins. `hits`: where its keywords are. */
  find(text: string, hits?: readonly number[]): (Found & { nameFrom: number })[];
};

/** Any name in front of the keyword: it matters only when there is a match, and is then read backwards. */
const anyName = /^(?<flag>\(\?i\))?\[\\w\.-\]\{0,50\}\?(?:(?<group>\(\?i:)\[\\w\.-\]\{0,50\}\?)?/;
/** How far before its keyword a match may begin. */
const maxBefore = 200;
const longestName = 50;

export function readVendorRules(): { generic: VendorRule; rules: VendorRule[] } {
  const file = path.join(import.meta.dirname, 'vendor-rules.json');
  const { shared, generic, rules } = JSON.parse(readFileSync(file, 'utf8')) as RuleFile;
  const sharedAllow = lazily(() => shared.allow.map((pattern) => compile(pattern, '')));
  const toRule = (data: RuleData) => toVendorRule(data, sharedAllow, shared.stopWords);
  return { generic: toRule(generic), rules: rules.map(toRule) };
}

function toVendorRule(data: RuleData, sharedAllow: () => RegExp[], sharedStops: readonly string[]): VendorRule {
  const { id, regex: pattern, triggers, isSearched = false, entropy = 0, group = 0, allow = [], stopWords = [] } = data;
  const isNamed = anyName.test(pattern);
  const regex = lazily(() => compile(pattern.replace(anyName, '$<flag>$<group>'), isSearched ? 'dg' : 'dy'));
  const allowed = lazily(() => allow.map((each) => ({ target: each.target, pattern: compile(each.pattern, '') })));
  const stops = lazily(() => createWordSearch([...sharedStops, ...stopWords]));
  const words = triggers.flatMap((trigger) => trigger.words);
  const kind = triggers.some(({ opening }) => opening === 'token') ? 'token' : 'credential';

  const isAllowed = (secret: string, match: string, line: string): boolean =>
    stops().isIn(secret) ||
    sharedAllow().some((each) => each.test(secret)) ||
    allowed().some(({ target, pattern: each }) => each.test(target === 'match' ? match : target === 'line' ? line : secret));

  const toFound = (text: string, match: RegExpExecArray, least: number): (Found & { nameFrom: number }) | null => {
    const [from, to] = match.indices?.[group > 0 ? group : firstGroup(match)] ?? [match.index, match.index];
    const secret = text.slice(from, to);
    if (entropyOf(secret) <= entropy) return null;
    const nameFrom = isNamed ? startOfName(text, match.index, least) : match.index;
    const whole = text.slice(nameFrom, match.index + match[0].length);
    return isAllowed(secret, whole, lineAround(text, from, to)) ? null : { from, to, kind, nameFrom };
  };

  const find = (text: string, hits: readonly number[] = hitsIn(text, words)) =>
    takeAt({ regex: regex(), before: maxBefore }, text, hits, (match, least) => toFound(text, match, least));
  return { id, pattern, triggers, find };
}

/** The first group that matched is the secret; without groups, the whole match is. */
function firstGroup({ length, indices }: RegExpExecArray): number {
  for (let group = 1; group < length; group++) {
    const place = indices?.[group];
    if (place !== undefined && place[1] > place[0]) return group;
  }
  return 0;
}

const lineAround = (text: string, from: number, to: number): string => {
  const end = text.indexOf('\n', to);
  return text.slice(text.lastIndexOf('\n', from) + 1, end === -1 ? undefined : end);
};

function startOfName(text: string, from: number, least: number): number {
  const before = text.slice(Math.max(least, from - longestName), from);
  return from - (/[\w.-]*$/.exec(before)?.[0].length ?? 0);
}

const compile = (pattern: string, flags: string): RegExp => new RegExp(toNativePattern(pattern), flags);

type WordSearch = { isIn(text: string): boolean };

const ascii = 128;

/** Finds out whether a text contains any of many words, ignoring case, with one look-up for each unit. */
function createWordSearch(words: readonly string[]): WordSearch {
  const classes = new Uint8Array(ascii);
  let width = 1;
  const classOf = (unit: number): number => (classes[unit] ||= width++);
  const paths = words.map((word) => Array.from(word.toLowerCase(), (char) => classOf(char.charCodeAt(0))));
  for (let unit = 65; unit <= 90; unit++) classes[unit] = classes[unit + 32]!;
  const { next, ends } = buildStates(paths, width);
  const table = Uint16Array.from(next);
  const isEnd = Uint8Array.from(ends, (list) => (list.length > 0 ? 1 : 0));

  return {
    isIn(text) {
      let state = 0;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        state = table[state * width + (unit < ascii ? classes[unit]! : 0)]!;
        if (isEnd[state] === 1) return true;
      }
      return false;
    },
  };
}
