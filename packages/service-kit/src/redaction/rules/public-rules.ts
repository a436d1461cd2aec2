import type { RedactedKind } from '../placeholder.ts';
import { imageRules } from './image-rules.ts';
import { mailRule } from './mail-rule.ts';
import type { DetectionRule, Trigger } from './rule.ts';
import { findAll } from './structure-rules.ts';

const rule = (
  id: string,
  kind: RedactedKind,
  triggers: readonly Trigger[],
  regex: RegExp,
  accept: (secret: string, match: RegExpExecArray) => boolean = () => true,
): DetectionRule => ({ id, triggers, find: (text) => findAll(text, regex, kind, accept) });

const token = (...words: string[]): Trigger[] => [{ opening: 'token', words }];
/** Between digits: spaces and hyphens, non-breaking ones included. */
const blank = String.raw`[ \u00A0\u2007\u2009\u202F]`;
const hyphen = String.raw`[\u2010\u2011\u2013-]`;
const gap = String.raw`(?:${blank}|${hyphen})`;
const digits = Array.from('0123456789');
const privateAddress = String.raw`(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})`;

/** Besides secrets, what public surfaces do not show of persons and networks. */
export const publicRules: readonly DetectionRule[] = [
  mailRule,
  rule(
    'international-phone',
    'phone',
    [{ opening: 'phone', words: ['+'] }],
    new RegExp(String.raw`(?<![\w+])(?<secret>\+[1-9]\d{0,2}(?:(?:${gap}|[./])?\(?\d{1,4}\)?){2,6})(?![\w/[])`, 'dg'),
    (secret) => countDigits(secret) >= 7 && countDigits(secret) <= 15,
  ),
  rule(
    'national-phone',
    'phone',
    [{ opening: 'phone', words: ['(', ...digits] }],
    new RegExp(
      String.raw`(?<![\w./+-])(?<secret>\(\d{3}\)${blank}?\d{3}${hyphen}\d{4}|\d{3}${hyphen}\d{3}${hyphen}\d{4}|0\d{2,4}(?:${gap}|\/)\d{3,4}${gap}?\d{3,5})(?![\w[-])`,
      'dg',
    ),
  ),
  rule(
    'card',
    'card',
    [{ opening: 'phone', words: digits }],
    new RegExp(String.raw`(?<![\w.-])(?<secret>\d(?:${gap}?\d){12,18})(?![\w.[-])`, 'dg'),
    (secret) => isCard(secret.replaceAll(/\D/g, '')),
  ),
  rule(
    'private-address',
    'ip',
    token('10.', '192.168.', '172.', '169.254.', '100.'),
    new RegExp(String.raw`(?<![\w.])(?<secret>${privateAddress}(?::\d{2,5})?)(?![\w[]|\.\d)`, 'dg'),
  ),
  rule(
    'private-address-6',
    'ip',
    [{ opening: 'token', words: ['fc', 'fd', 'fe80:'], isBound: true }],
    /(?<![\w:])(?<secret>(?:f[cd][0-9a-f]{2}|fe80)(?::[0-9a-f]{0,4}){2,7})(?![\w:[])/dgi,
    (secret) => secret.includes('::') || secret.split(':').length === 8,
  ),
  rule(
    'internal-host',
    'host',
    token('.local', '.internal', '.lan', '.home.arpa'),
    /(?<![\w./$@-])(?<secret>[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9-]{1,63}){0,5}\.(?:local|internal|lan|home\.arpa)(?::\d{2,5})?)(?![\w(=[-]|\.\w)/dgi,
    (secret) => !/^(?:this|self|window|options|config|settings|env)\./i.test(secret),
  ),
  rule(
    'internal-host-in-url',
    'host',
    token('.local', '.internal', '.lan', '.home.arpa'),
    /:\/\/(?:[^\s/@]{1,128}@)?(?<secret>[a-z0-9][a-z0-9.-]{0,200}\.(?:local|internal|lan|home\.arpa)(?::\d{2,5})?)(?![\w.[-])/dgi,
  ),
  rule(
    'internal-port',
    'host',
    token('localhost:', '127.0.0.1:', '0.0.0.0:', '[::1]:', 'host.docker.internal:'),
    /(?<![\w.])(?<secret>(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):\d{2,5})(?![\d[])/dgi,
  ),
  rule(
    'home-path',
    'path',
    token('/home/', '/users/', '/root/'),
    /(?<![\w])(?<secret>(?:\/(?:home|Users)\/[\w.-]{1,64}|\/root)(?:\/[\w.@+-]{1,128}){0,20}\/?)/dg,
    (secret) => !/^\/(?:home|Users)\/(?:user|username|you|me|name|USER)\b/.test(secret),
  ),
  rule(
    'windows-home',
    'path',
    [{ opening: 'value', words: [':\\users\\', ':\\\\users\\\\'] }],
    /[A-Za-z]:\\{1,2}Users\\{1,2}(?<secret>[\w.-]{1,64})/dgi,
  ),
  ...imageRules,
  rule(
    'data-in-link',
    'data',
    token('://'),
    /https?:\/\/[^\s/?#<>"']{1,253}(?:\/[^\s?#<>"')]{0,1000})?[?#](?<secret>[^\s<>"')]{16,4096})/dgi,
    (secret) => carriesData(secret),
  ),
];

const countDigits = (text: string): number => text.replaceAll(/\D/g, '').length;

/** Checks the digit that every card number ends with. */
function isCard(number: string): boolean {
  if (number.length < 13 || number.length > 19 || /^(\d)\1*$/.test(number)) return false;
  const sum = Array.from(number)
    .toReversed()
    .reduce((total, digit, place) => {
      const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0 && /^[3-6]/.test(number);
}

/** True for a part of a link that could carry data to its host: long, and not made of ordinary words. */
const carriesData = (query: string): boolean =>
  query.split('&').some((part) => /^[^=]{0,64}=[^&]{16,}/.test(part)) || query.length >= 96;

/** A web address and its host name. Programs turn `www.` into links too. */
const link =
  /(?<secret>(?:https?:\/\/(?:[^\s/?#@<>"'()[\]]{0,128}@)?|(?<![\w./@-])www\.)(?<host>[^\s/?#:<>"'()[\]\\]{1,253})[^\s<>"')[\]]{0,2048})/dgi;

/** Links to any host other than these and their subdomains. */
export const foreignLinks = (hosts: readonly string[]): DetectionRule => ({
  id: 'foreign-link',
  triggers: [{ opening: 'token', words: ['http://', 'https://', 'www.'] }],
  find: (text) => findAll(text, link, 'link', (_link, { groups }) => !isBelow(groups?.['host'] ?? '', hosts)),
});

const isBelow = (host: string, hosts: readonly string[]): boolean => {
  const name = host.toLowerCase().replace(/\.+$/, '');
  return hosts.some((each) => name === each || `www.${name}` === each || name.endsWith(`.${each}`));
};
