import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import { looksSecret, mask } from './looks-secret.ts';
import { withoutReferences } from './secret-references.ts';

/**
 * The entry as it may be shown: of the environment the names and the references to secrets, and elsewhere no literal value that
 * looks like a secret.
 */
export function maskEntry(entry: ToolServerEntry): ToolServerEntry {
  if (entry.type === 'stdio') return { ...entry, args: maskArgs(entry.args), env: maskLiterals(entry.env) };
  return { ...entry, url: maskUrl(entry.url), ...(entry.headers !== undefined && { headers: maskValues(entry.headers) }) };
}

/** Literal values of an entry that are secrets: the replies of an engine must not have them. */
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

/** Which literal secrets an entry holds, as text for the person who registers it. */
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

/** A pass phrase may stand under any name and look like any word. */
const maskLiterals = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, withoutReferences(value).trim() === '' ? value : mask]),
  );

/** `--token VALUE`, `--token=VALUE`, and values that look like secrets wherever they stand. */
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
