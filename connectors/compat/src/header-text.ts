import type { Exchange } from '@svc/connector-kit/http/exchange.ts';
import { refuse } from './completion-error.ts';

/** A header of 1 to 200 printable characters; null when it is missing. */
export function headerText({ req }: Exchange, name: string): string | null {
  const value = req.headers[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value)) return value;
  throw refuse(name, `The header ${name} must have 1 to 200 visible ASCII characters.`, 'invalid_value');
}
