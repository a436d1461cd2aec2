import { findAt, hitsIn, type Accept, type DetectionRule, type Trigger } from './rule.ts';
import { isPlaceholderPassword } from './values.ts';

/** The host after a password in an address: a name with a dot, or one with a port or a path. */
const host = String.raw`(?=localhost\b|\[[\da-f]|[\w-]+(?:\.[\w-]+)+|[\w-]+[:/])`;
const user = String.raw`(?<user>[^\s/?#@"'${'`'}<>:[\]]{0,128})`;

/** More words are a sentence that ends with a mail address. */
const mostWords = 6;
const port = /^\d{1,5}(?!\w)/;
/** The end of a string or of part of a sentence, and what follows it. */
const endOfText = /["'`]\s{0,3}[,:;)\]}>]|[,.;:]\s/;

const isPassword: Accept = (secret, { groups }) => {
  if (secret.length < 4 || secret === groups?.['user'] || port.test(secret) || isPlaceholderPassword(secret)) return false;
  if (!/[\s"'`<>()[\]{}|\\,;]/.test(secret)) return true;
  return !endOfText.test(secret) && secret.split(/\s+/).length <= mostWords && !groups?.['user']?.includes('.');
};

const rule = (id: string, triggers: readonly Trigger[], form: string): DetectionRule => {
  const regex = new RegExp(form, 'diy');
  const words = triggers.flatMap((trigger) => trigger.words);
  return {
    id,
    triggers,
    find: (text, hits = hitsIn(text, words)) => findAt({ regex, kind: 'password', accept: isPassword }, text, hits),
  };
};

/** Passwords of addresses as people type them: with spaces, quotes, brackets or other scripts in them, or without a scheme. */
export const addressRules: readonly DetectionRule[] = [
  rule(
    'typed-url-password',
    [{ opening: 'address', words: ['://'] }],
    String.raw`(?<!docker|oci):\/\/${user}:(?<secret>[^\s/?#@](?:[^\n/@]{0,200}[^\s/@])?)@${host}`,
  ),
  rule(
    'relative-url-password',
    [{ opening: 'token', words: ['//'] }],
    String.raw`(?<![:\w/\\])\/\/${user}:(?<secret>[^\s/"'${'`'}<>@]{1,256})@${host}`,
  ),
];
