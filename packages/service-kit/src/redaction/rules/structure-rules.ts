import type { RedactedKind } from '../placeholder.ts';
import { findAt, hitsIn, type Accept, type DetectionRule, type Found, type Trigger } from './rule.ts';
import { isFiller, isPlaceholderPassword, looksRandom } from './values.ts';

type Pattern = {
  id: string;
  triggers: readonly Trigger[];
  /** Sticky when it begins at the keyword; otherwise global. Its group `secret` is masked. */
  regex: RegExp;
  /** How far before a keyword a match of a global expression may begin; without it, the whole piece is searched. */
  before?: number;
  /** A stretch in which at most one match can begin: only the first keyword in it is tried. */
  isOnce?: RegExp;
  kind: RedactedKind;
  accept?: Accept;
};

/** In web addresses, `user:pass` has been seen as a real password. */
const isWeb = /^(?:https?|ftps?)$/i;

/** Rules for forms that any vendor's secret may have. Their expressions are linear: no text can match in two ways. */
const patterns: readonly Pattern[] = [
  {
    id: 'jwt',
    triggers: [{ opening: 'token', words: ['ey', 'zxlk'], isBound: true }],
    regex: /\b(?<secret>(?:ey[A-Za-z0-9]|ZXlK)[\w-]{14,}\.[\w-]{10,}(?:\.[\w-]*){0,3}={0,2})/dy,
    isOnce: /[\w-]*/y,
    kind: 'token',
    accept: (secret: string) => /\d/.test(secret),
  },
  {
    id: 'jwt-base64',
    triggers: [{ opening: 'token', words: ['zxlk'], isBound: true }],
    regex: /\b(?<secret>ZXlK[\w/+-]{60,}={0,2})/dy,
    isOnce: /[\w/+-]*/y,
    kind: 'token',
  },
  {
    id: 'url-password',
    triggers: [
      { opening: 'token', words: ['://', '%3a%2f%2f'] },
      { opening: 'value', words: [':\\/\\/'] },
    ],
    regex:
      /(?<=(?<scheme>[a-z0-9+.-]{0,24}))(?::\\?\/\\?\/|%3A%2F%2F)(?<user>[^\s/?#@"'`<>:[]{0,128}?)(?::|%3A)(?:(?<secret>[^\s/"'`<>]{1,256})|(?<=(?:amqps?|rediss?|mongodb|mysql|mariadb|postgres|postgresql|mssql|sqlserver|nats|smtps?|ldaps?):\/\/[^\s/@]{0,128}:)(?!\d{1,5}\/)(?<secret>[^\s"'`<>]{1,256}))(?:@|%40)(?=[\w[$%{<])/diy,
    kind: 'password',
    accept: (secret: string, { groups }: RegExpExecArray) =>
      secret.length >= 4 &&
      secret !== groups?.['user'] &&
      (!isPlaceholderPassword(secret) || (secret === 'pass' && isWeb.test(groups?.['scheme'] ?? ''))),
  },
  {
    id: 'oracle-password',
    triggers: [{ opening: 'token', words: ['oracle:thin:', 'oracle:oci:'] }],
    regex: /oracle:(?:thin|oci):(?<user>[^\s/@"'`<>]{1,64})\/(?<secret>[^\s@"'`<>]{1,128})@(?=[\w/[(])/diy,
    kind: 'password',
    accept: (secret: string) => secret.length >= 3 && !isPlaceholderPassword(secret),
  },
  {
    id: 'url-password-parameter',
    triggers: [{ opening: 'token', words: ['?password=', '&password=', '?passwd=', '&passwd=', '?pwd=', '&pwd=', ';password='] }],
    regex: /[?&;]p(?:assw(?:or)?|w)d=(?<secret>[^\s&;#"'`<>[\]\\?]{3,256})/diy,
    kind: 'password',
    accept: (secret: string) =>
      !isPlaceholderPassword(secret) && !/^(?:true|false|none|null|required|optional|\d)$/i.test(secret),
  },
  {
    // The token is in the place of the user, as the password indicates.
    id: 'url-token',
    triggers: [{ opening: 'token', words: ['://'] }],
    regex: /:\/\/(?<secret>[\w.~%-]{16,256}):(?:x-oauth-basic)?@(?=[\w[])/diy,
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
      /[?&](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|api[_-]?key)|key|sig)=(?<secret>[^\s&#"'`<>[\]\\?]{12,2048})/dgi,
    before: 41,
    kind: 'credential',
    accept: (secret: string) => looksRandom(secret, 3),
  },
  {
    id: 'npm-registry',
    triggers: [{ opening: 'assignment', words: [':_auth', ':_password'] }],
    regex: /(?<=\/):_(?:auth|authToken|password)[ ]?=[ ]?["']?(?<secret>[\w.~+/=-]{8,400})/diy,
    kind: 'token',
    accept: (secret: string) => !isFiller(secret),
  },
  {
    id: 'connection-string',
    triggers: [{ opening: 'assignment', words: ['password', 'pwd', 'accountkey', 'sharedaccesskey', 'shared access key'] }],
    regex: /(?:(?<=;[ ]?)(?:password|pwd)|accountkey|shared ?access ?key)[ ]?=[ ]?(?<secret>[^;\s"'`<>{}]{4,200})/diy,
    kind: 'password',
    accept: (secret: string) => !isFiller(secret),
  },
  {
    id: 'authorization',
    triggers: [{ opening: 'line', words: ['authorization'] }],
    regex:
      /authorization["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,2}(?:(?<scheme>basic|bearer|token|bot|apikey|api-key|key|jwt|digest|negotiate)\s{1,3})?(?<secret>[\w.~+/=:-]{8,4096})/diy,
    kind: 'credential',
    accept: (secret: string, match: RegExpExecArray) =>
      looksRandom(secret, match.groups?.['scheme'] === undefined ? 3.5 : 2.5) ||
      (match.groups?.['scheme'] !== undefined && /[A-Z]/.test(secret) && looksRandom(`${secret}1`, 3)),
  },
  {
    id: 'bearer',
    triggers: [{ opening: 'value', words: ['bearer '] }],
    regex: /\bbearer[ \t]{1,3}(?<secret>[\w.~+/=-]{16,4096})/diy,
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
    regex: /(?: -u ?| --user[ =])["']?(?<user>[^\s"':]{0,64}):(?<secret>[^\s"'`]{3,200})/dy,
    kind: 'password',
    accept: (secret: string, { groups }: RegExpExecArray) =>
      secret.length >= 4 && secret !== groups?.['user'] && !isPlaceholderPassword(secret),
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

function toRule({ id, triggers, regex, kind, before, isOnce, accept = () => true }: Pattern): DetectionRule {
  if (!regex.sticky && before === undefined) return { id, triggers, find: (text) => findAll(text, regex, kind, accept) };
  const words = triggers.flatMap((trigger) => trigger.words);
  return {
    id,
    triggers,
    find: (text, hits = hitsIn(text, words)) => {
      const tried = isOnce === undefined ? hits : firstOfRuns(text, hits, isOnce);
      return findAt({ regex, kind, accept, ...(before !== undefined && { before }) }, text, tried);
    },
  };
}

/** If the first hit in a run finds nothing, the others in it find nothing either. */
function firstOfRuns(text: string, hits: readonly number[], run: RegExp): number[] {
  let done = 0;
  return hits.filter((hit) => {
    if (hit < done) return false;
    run.lastIndex = hit;
    done = hit + (run.exec(text)?.[0].length ?? 0);
    return true;
  });
}

/** All accepted places of the group `secret`. */
export function findAll(text: string, regex: RegExp, kind: RedactedKind, accept: Accept): Found[] {
  const found: Found[] = [];
  regex.lastIndex = 0;
  for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
    const secret = match.groups?.['secret'];
    const place = match.indices?.groups?.['secret'];
    if (secret === undefined || place === undefined) continue;
    if (accept(secret, match)) found.push({ from: place[0], to: place[1], kind });
    else regex.lastIndex = match.index + 1; // another match may begin within the rejected one
  }
  return found;
}
