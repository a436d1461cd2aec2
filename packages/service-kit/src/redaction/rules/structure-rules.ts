import type { RedactedKind } from '../placeholder.ts';
import type { DetectionRule, Found, Trigger } from './rule.ts';
import { isFiller, isTemplate, looksRandom } from './values.ts';

type Accept = (secret: string, match: RegExpExecArray) => boolean;

type Pattern = {
  id: string;
  triggers: readonly Trigger[];
  /** Global; its group `secret` is what is masked. */
  regex: RegExp;
  kind: RedactedKind;
  accept?: Accept;
};

/** Rules of a form that any vendor's secret may have. Their expressions are linear: no part of a text can match two ways. */
const patterns: readonly Pattern[] = [
  {
    id: 'jwt',
    triggers: [{ opening: 'token', words: ['ey', 'zxlk'], isBound: true }],
    regex: /\b(?<secret>(?:ey[A-Za-z0-9]|ZXlK)[\w-]{14,}\.[\w-]{10,}(?:\.[\w-]*){0,3}={0,2})/dg,
    kind: 'token',
    accept: (secret: string) => /\d/.test(secret),
  },
  {
    id: 'jwt-base64',
    triggers: [{ opening: 'token', words: ['zxlk'], isBound: true }],
    regex: /\b(?<secret>ZXlK[\w/+-]{60,}={0,2})/dg,
    kind: 'token',
  },
  {
    id: 'url-password',
    triggers: [{ opening: 'token', words: ['://'] }],
    regex: /(?<scheme>[a-z0-9+]{0,24}):\/\/(?<user>[^\s/?#@"'`<>:[]{0,128}):(?<secret>[^\s/@"'`<>]{1,256})@(?=[\w[])/dgi,
    kind: 'password',
    accept: (secret: string, { groups }: RegExpExecArray) =>
      isRealPassword(secret, groups?.['user'] ?? '') &&
      (/^(?:https?|ftps?)$/i.test(groups?.['scheme'] ?? '') || !isFiller(secret)),
  },
  {
    // The token stands where the user does, and the password says that it does.
    id: 'url-token',
    triggers: [{ opening: 'token', words: ['://'] }],
    regex: /:\/\/(?<secret>[\w.~%-]{16,256}):(?:x-oauth-basic)?@(?=[\w[])/dgi,
    kind: 'token',
    accept: (secret: string) => !isFiller(secret),
  },
  {
    id: 'url-parameter',
    triggers: [
      {
        opening: 'value',
        words: [
          'token=',
          'secret=',
          'password=',
          'passwd=',
          'signature=',
          'api_key=',
          'api-key=',
          'apikey=',
          '?key=',
          '&key=',
          '&sig=',
        ],
      },
    ],
    regex:
      /[?&](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|api[_-]?key)|key|sig)=(?<secret>[^\s&#"'`<>[\]\\]{12,2048})/dgi,
    kind: 'credential',
    accept: (secret: string) => looksRandom(secret, 3),
  },
  {
    id: 'npm-registry',
    triggers: [{ opening: 'assignment', words: [':_auth', ':_password'] }],
    regex: /\/:_(?:auth|authToken|password)[ ]?=[ ]?["']?(?<secret>[\w.~+/=-]{8,400})/dgi,
    kind: 'token',
    accept: (secret: string) => !isFiller(secret),
  },
  {
    id: 'connection-string',
    triggers: [{ opening: 'assignment', words: ['password', 'pwd', 'accountkey', 'sharedaccesskey', 'shared access key'] }],
    regex: /(?:;[ ]?(?:password|pwd)|accountkey|sharedaccesskey)[ ]?=[ ]?(?<secret>[^;\s"'`<>{}]{4,200})/dgi,
    kind: 'password',
    accept: (secret: string) => !isFiller(secret),
  },
  {
    id: 'authorization',
    triggers: [{ opening: 'line', words: ['authorization'] }],
    regex:
      /authorization["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,2}(?:(?<scheme>basic|bearer|token|bot|apikey|api-key|key|jwt|digest|negotiate)\s{1,3})?(?<secret>[\w.~+/=:-]{8,4096})/dgi,
    kind: 'credential',
    accept: (secret: string, match: RegExpExecArray) =>
      looksRandom(secret, match.groups?.['scheme'] === undefined ? 3.5 : 2.5) ||
      (match.groups?.['scheme'] !== undefined && /[A-Z]/.test(secret) && looksRandom(`${secret}1`, 3)),
  },
  {
    id: 'bearer',
    triggers: [{ opening: 'value', words: ['bearer '] }],
    regex: /\bbearer[ \t]{1,3}(?<secret>[\w.~+/=-]{16,4096})/dgi,
    kind: 'credential',
    accept: (secret: string) => looksRandom(secret, 3),
  },
  {
    id: 'cookie',
    triggers: [{ opening: 'line', words: ['cookie'] }],
    regex: /(?:\bcookie["']?: ?["']?|;[ ]?|,[ ]?)(?<name>[\w.-]{1,64})=(?<secret>[^\s;,"'`<>{}]{8,4096})/dgi,
    kind: 'cookie',
    accept: (secret: string, { groups }: RegExpExecArray) =>
      looksRandom(secret, 2.5) && (secret.length >= 16 || /sess|sid|auth|token|jwt/i.test(groups?.['name'] ?? '')),
  },
  {
    id: 'curl-user',
    triggers: [{ opening: 'value', words: [' -u ', ' --user ', ' --user=', ' -u"', " -u'"] }],
    regex: /(?: -u ?| --user[ =])["']?(?<user>[^\s"':]{0,64}):(?<secret>[^\s"'`]{3,200})/dg,
    kind: 'password',
    accept: (secret: string, match: RegExpExecArray) => isRealPassword(secret, match.groups?.['user'] ?? ''),
  },
  {
    id: 'kubernetes-secret',
    triggers: [
      { opening: 'span', words: ['kind: secret', 'kind: "secret"', "kind: 'secret'", '"kind": "secret"', '"kind":"secret"'] },
    ],
    regex:
      /^\s{0,20}["']?[\w.-]{1,100}["']?:[ \t]{0,5}(?:\|[-+]?\s{1,20})?["']?(?<secret>[A-Za-z0-9+/]{8,2000}={0,2})["']?,?$/dgm,
    kind: 'credential',
    accept: (secret: string, match: RegExpExecArray) =>
      !/^\s*["']?(?:name|namespace|kind|type|apiVersion)\b/.test(match[0]) && !isFiller(secret),
  },
];

export const structureRules: readonly DetectionRule[] = patterns.map(toRule);

function toRule({ id, triggers, regex, kind, accept = () => true }: Pattern): DetectionRule {
  return { id, triggers, find: (text) => findAll(text, regex, kind, accept) };
}

/** All places of the group `secret` that are accepted. */
export function findAll(text: string, regex: RegExp, kind: RedactedKind, accept: Accept): Found[] {
  const found: Found[] = [];
  regex.lastIndex = 0;
  for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
    const secret = match.groups?.['secret'];
    const place = match.indices?.groups?.['secret'];
    if (secret === undefined || place === undefined) continue;
    if (accept(secret, match)) found.push({ from: place[0], to: place[1], kind });
    else regex.lastIndex = match.index + 1; // another may begin within what was refused
  }
  return found;
}

/** `user:password@` is how manuals write it. */
const isRealPassword = (password: string, user: string): boolean =>
  password.length >= 4 &&
  password !== user &&
  password !== 'x-oauth-basic' &&
  !isTemplate(password) &&
  !/^(?:your|my)?[-_]?passw(?:or)?d$|replace|your_/i.test(password) &&
  !/^(.)\1*$/.test(password);
