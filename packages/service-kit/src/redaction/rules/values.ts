/** Shannon entropy in bits per character. */
export function entropyOf(text: string): number {
  if (!isAscii.test(text)) return wideEntropy(text);
  let entropy = 0;
  for (let i = 0; i < text.length; i++) counts[text.charCodeAt(i)]!++;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const count = counts[unit]!;
    counts[unit] = 0;
    if (count > 0) entropy -= (count / text.length) * Math.log2(count / text.length);
  }
  return entropy;
}

/** Reused for each text; all zero in between. */
const counts = new Uint32Array(128);
// oxlint-disable-next-line no-control-regex
const isAscii = /^[\u0000-\u007f]*$/;

function wideEntropy(text: string): number {
  const chars = new Map<string, number>();
  for (const char of text) chars.set(char, (chars.get(char) ?? 0) + 1);
  let entropy = 0;
  for (const count of chars.values()) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const template = /^[$%<{[(*]|\$\{|\{\{|<[\w -]+>|^\/|^\.|^(?:https?|file):|\.\.\.|…|\*{3}|x{4}|^(.)\1*$/i;
const filler =
  /example|placeholder|change[-_]?(?:me|it)|dummy|sample|redacted|replace|insert[-_]|^hunter2|your[-_]?|my[-_]?(?:pass|secret|token)(?![a-z]*\d{3})|^(?:user|username|login|pass|pw|password|passwd|secret|token|pwd|root|admin|none|null|undefined|true|false)$/i;

/** Text in the place of a value that is none: a template, a path, a word that means "put yours here". */
export const isFiller = (value: string): boolean => template.test(value) || filler.test(value);

/** Ids and digests look random too but are not secret. */
export const isPublicId = (value: string): boolean => uuid.test(value) || /^sha\d{3}-/.test(value);

/** True for a value that is no word of a language or a program. */
export const looksRandom = (value: string, least: number): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && entropyOf(value) >= least && !isFiller(value) && !isPublicId(value);

const passwordWord =
  /^(?:(?:your|my|some|the|db|database|user|new|old|test)[-_ ]?)*(?:pass|pw|pwd|passwd|password|passphrase|passcode|secret|token)s?$/i;
const passwordStandIn =
  /^(?:user|username|login|example|placeholder|changeme|change[-_](?:me|it)|changeit|redacted|hidden|masked|removed|dummy|x-oauth-basic|xxx+|\*+|\.+|…|_+|-+|%[a-z]|%\d\$s|\$\d)$/i;
const passwordTemplate =
  /^\$?\{.*\}$|^\$\(.*\)$|^\$[a-z_]\w*$|^%[a-z_]\w*%$|^<.*>$|^\[.*\]$|^%3c.*%3e$|\$\{|\{\{|\*{3}|x{4}|\.\.\.|…|your[-_]|replace[-_]|^(.)\1*$/i;

/** True for what manuals write in the place of a password. Nothing else is exempt: a weak password is a password. */
export const isPlaceholderPassword = (value: string): boolean =>
  passwordWord.test(value) || passwordStandIn.test(value) || passwordTemplate.test(value);
