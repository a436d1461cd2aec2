import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import { holdsPlaceholder, placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import { withoutReferences } from './secret-references.ts';

/** Replaces a value that is not shown. A stored value must not contain it. */
export const mask = placeholder;

/** Whether text that is to be stored contains any mask of the service. */
export const isMasked = (text: string): boolean => holdsPlaceholder(text);

const secretName = /key|token|secret|passw|passphrase|pwd|credential|auth|cookie|dsn/i;
const secretValue = [
  /\b(?:sk|rk|pk|ghp|gho|ghu|ghs|ghr|xox[abeprs]|glpat|npm|pypi|hf|dop_v1|shpat|lin_api|secret)[-_][A-Za-z0-9_-]{12,}/,
  /\b(?:github_pat_|AKIA|ASIA|AIza|ya29\.|eyJ)[A-Za-z0-9_.-]{12,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/i,
  /^(?:Bearer|Basic|Token)\s+\S/i,
];

/** Whether a value should be hidden because of its name or its form. A reference to a secret is not secret. */
export function looksSecret(name: string, value: string): boolean {
  const literal = withoutReferences(value).trim();
  if (literal === '' || /^(?:Bearer|Basic|Token)$/i.test(literal)) return false;
  return secretName.test(name) || secretValue.some((pattern) => pattern.test(literal)) || isRandom(literal);
}

/** A long word of mixed letters and digits: not a path, an address or a sentence. */
const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9+_=-]{24,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !uuid.test(text);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The entry as it may be shown: of the environment only names and references to secrets, and elsewhere no literal value that looks like a
 * secret.
 */
export function maskEntry(entry: ToolServerEntry): ToolServerEntry {
  if (entry.type === 'stdio') return { ...entry, args: maskArgs(entry.args), env: maskLiterals(entry.env) };
  return { ...entry, url: maskUrl(entry.url), ...(entry.headers !== undefined && { headers: maskValues(entry.headers) }) };
}

/** The literal secrets of an entry, which are masked in engines' replies. */
export function secretsIn(entry: ToolServerEntry): string[] {
  const named = entry.type === 'stdio' ? Object.entries(entry.env) : Object.entries(entry.headers ?? {});
  const given = named.filter(([name, value]) => looksSecret(name, value)).map(([, value]) => withoutScheme(value));
  if (entry.type === 'http')
    return [...given, ...queryOf(entry.url).flatMap(([name, value]) => (looksSecret(name, value) ? [value] : []))];
  return [
    ...given,
    ...entry.args.filter((arg, at) => maskArgs(entry.args)[at] !== arg).map((arg) => arg.replace(/^--?[\w-]+=/, '')),
  ];
}

/** The places of literal secrets in an entry, as text for the person who registers it. */
export function plainSecrets(entry: ToolServerEntry): string[] {
  const [place, values] = entry.type === 'stdio' ? ['env', entry.env] : ['headers', entry.headers ?? {}];
  return Object.entries(values)
    .filter(([name, value]) => looksSecret(name, value))
    .map(
      ([name]) =>
        `${place}.${name} holds a secret as plain text. Put it into the secrets file (docs/secrets.md) and write \${secret:${toName(name)}}.`,
    );
}

const toName = (name: string): string => name.replaceAll(/\W/g, '_').toUpperCase();
const withoutScheme = (value: string): string => value.replace(/^(?:Bearer|Basic|Token)\s+/i, '');

const maskValues = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, looksSecret(name, value) ? mask : value]));

/** A pass phrase can have any name and look like any word. */
const maskLiterals = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, withoutReferences(value).trim() === '' ? value : mask]),
  );

/** Masks `--token VALUE`, `--token=VALUE`, and values anywhere that look like secrets. */
function maskArgs(args: readonly string[]): string[] {
  return args.map((arg, at) => {
    const [, flag, value] = /^(--?[\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined) return looksSecret(flag, value) ? `${flag}=${mask}` : arg;
    if (arg.startsWith('-')) return arg;
    const before = args[at - 1] ?? '';
    return looksSecret(/^--?[\w-]+$/.test(before) ? before : '', arg) ? mask : arg;
  });
}

function maskUrl(url: string): string {
  const secrets = queryOf(url).filter(([name, value]) => looksSecret(name, value));
  if (secrets.length === 0) return url;
  const masked = new URL(url);
  for (const [name] of secrets) masked.searchParams.set(name, 'redacted');
  return masked.href.replaceAll('=redacted', `=${mask}`);
}

const queryOf = (url: string): [string, string][] => (URL.canParse(url) ? [...new URL(url).searchParams] : []);
