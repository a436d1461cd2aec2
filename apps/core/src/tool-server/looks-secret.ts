import { holdsPlaceholder, placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import { withoutReferences } from './secret-references.ts';

/** Stands for a value that is not shown. What holds it is refused when it comes back. */
export const mask = placeholder;

/** Any mask of the service, in text that is to be stored. */
export const isMasked = (text: string): boolean => holdsPlaceholder(text);

const secretName = /key|token|secret|passw|passphrase|pwd|credential|auth|cookie|dsn/i;
const secretValue = [
  /\b(?:sk|rk|pk|ghp|gho|ghu|ghs|ghr|xox[abeprs]|glpat|npm|pypi|hf|dop_v1|shpat|lin_api|secret)[-_][A-Za-z0-9_-]{12,}/,
  /\b(?:github_pat_|AKIA|ASIA|AIza|ya29\.|eyJ)[A-Za-z0-9_.-]{12,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/i,
  /^(?:Bearer|Basic|Token)\s+\S/i,
];

/** True when a value should not be shown: by its name, or by what it looks like. A reference to a secret is not one. */
export function looksSecret(name: string, value: string): boolean {
  const literal = withoutReferences(value).trim();
  if (literal === '' || /^(?:Bearer|Basic|Token)$/i.test(literal)) return false;
  return secretName.test(name) || secretValue.some((pattern) => pattern.test(literal)) || isRandom(literal);
}

/** A long word with letters and digits mixed: a path, an address and a sentence are none. */
const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9+_=-]{24,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !uuid.test(text);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
