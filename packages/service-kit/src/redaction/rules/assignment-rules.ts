import { findAt, hitsIn, type DetectionRule, type Found } from './rule.ts';
import { entropyOf, isFiller, isPublicId, looksRandom } from './values.ts';
import type { VendorRule } from './vendor-rules.ts';

/** Names that mark their value as secret. Others (`key`, `auth`, `access`) may name anything. */
const explicitName =
  /passw(?:or)?d|passphrase|passwd|\bpwd|_pwd|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key|auth[_.-]?key|encryption[_.-]?key|signing[_.-]?key|account[_.-]?key|credential|creds/i;

/** Names of values that are random but public. */
const publicName = /sha\d*|hash|digest|checksum|integrity|commit|etag|fingerprint|nonce|revision|public|_id\b|csrf/i;

const explicitTriggers = [
  { opening: 'assignment', words: ['passw', 'passphrase', 'pwd', 'secret', 'token', 'key', 'credential'] },
] as const;

/**
 * A quoted or single value of an explicit name, with characters that the generic rule does not accept.
 * Passwords are short, so weaker signs are enough for them.
 */
export const explicitAssignment: DetectionRule = {
  id: 'explicit-assignment',
  triggers: explicitTriggers,
  find: (text, hits = hitsIn(text, explicitTriggers[0].words)) => [
    ...findAt({ regex: quoted, kind: 'credential', accept: isSecretValue }, text, hits),
    ...findAt({ regex: inEnvironment, kind: 'credential', accept: isSecretValue }, text, hits),
  ],
};

const quoted =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|(?<=(?:api|access|private|account)[_-]?)key)[\w.-]{0,20}\\?["']?\s{0,3}(?:=>|:=|=|:)\s{0,3}\\?["'](?<secret>[^"'`\s\\]{6,200})\\?["']/diy;
const inEnvironment =
  /(?<=(?<![^\s;])[A-Z0-9_]{0,40})(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|(?<=(?:API|ACCESS|PRIVATE)_?)KEY)[A-Z0-9_]{0,20}=(?<secret>[^"'`\s]{6,200})(?!\S)/dy;

/** The whole name, of which a match may contain only the end. */
const nameOf = (match: RegExpExecArray, secret: string): string =>
  (/[\w.-]{0,40}$/.exec(match.input.slice(Math.max(0, match.index - 40), match.index))?.[0] ?? '') +
  match[0].slice(0, match[0].lastIndexOf(secret));

function isSecretValue(secret: string, match: RegExpExecArray): boolean {
  const name = nameOf(match, secret);
  if (publicName.test(name) || /[()]|::|^\w+\.\w+\./.test(secret)) return false;
  return looksRandom(secret, /pass|pwd/i.test(name) ? 2.5 : 3.5);
}

/** The generic rule of the vendored set. On private surfaces only explicit names count. */
export function genericAssignment(rule: VendorRule, explicitOnly: boolean): DetectionRule {
  return {
    id: explicitOnly ? 'generic-explicit' : 'generic',
    triggers: rule.triggers,
    find: (text, hits) => rule.find(text, hits).filter((found) => isAccepted(text, found, explicitOnly)),
  };
}

function isAccepted(text: string, { from, to, nameFrom = 0 }: Found & { nameFrom?: number }, explicitOnly: boolean): boolean {
  const secret = text.slice(from, to);
  const name = text.slice(nameFrom, from);
  if (publicName.test(name) || isFiller(secret) || isPublicId(secret)) return false;
  if (!/\d/.test(secret) || entropyOf(secret) < 3.5) return false;
  return !explicitOnly || explicitName.test(name);
}
