import type { ApiKey, ApiKeyCreated, ApiKeyList, ApiKeyRevoked } from '@svc/contract/api-key.ts';
import { visibleLine, type Style } from '../terminal.ts';

/** The keys, for a person. */
export function renderKeys({ keys, connectors }: ApiKeyList, style: Style): string {
  const several = new Set(keys.map(({ connector }) => connector)).size > 1;
  const width = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length), 0);
  const [nameWidth, personWidth] = [width(keys.map(({ name }) => visibleLine(name))), width(keys.map((key) => personOf(key)))];
  const lines = keys.map((key) => {
    const person = personOf(key).padEnd(personWidth);
    const place = several ? style.dim(`  ${key.connector}`) : '';
    return `  ${style.bold(visibleLine(key.name).padEnd(nameWidth))}  …${key.ending}  ${key.for === null ? style.yellow(person) : person}  ${budgetOf(key, style)}${place}`;
  });
  return [
    ...(lines.length === 0 ? ['There are no keys.'] : lines),
    ...connectors.flatMap(({ connector, fault }) => (fault === null ? [] : [style.red(`  ${connector}: ${visibleLine(fault)}`)])),
    '',
    style.dim('  ./svc key create NAME --budget 20   makes one'),
    style.dim('  ./svc key revoke NAME               revokes one'),
  ].join('\n');
}

const personOf = ({ for: person }: ApiKey): string => (person === null ? 'nobody: it is denied' : `for ${person}`);

function budgetOf({ budget }: ApiKey, style: Style): string {
  if (budget === null) return style.dim('no budget');
  const text = `${usd(budget.spent_usd)} of ${usd(budget.month_usd)} this month`;
  return budget.spent_usd >= budget.month_usd ? style.red(text) : text;
}

/** A new key, which is shown this once. */
export function renderCreated(created: ApiKeyCreated, style: Style): string {
  const { name, key, for: person, url, budget_usd: budget, effective } = created;
  const spends = budget === null ? '' : `, and may spend ${usd(budget)} a month`;
  return [
    `The key "${name}" acts for "${person}"${spends}. It works from now on, and is shown this once:`,
    '',
    `  ${style.bold(key)}`,
    '',
    url !== null && effective
      ? style.dim(`  Base URL: ${url}/v1`)
      : style.yellow('Its connector is not running, or does not accept it yet: ./svc connector'),
  ].join('\n');
}

export function renderRevoked({ name, effective }: ApiKeyRevoked, style: Style): string {
  if (effective) return `The key "${name}" is revoked: it is refused from now on.`;
  return style.yellow(`The key "${name}" is removed from the list, but its connector does not refuse it yet: ./svc connector`);
}

const usd = (amount: number): string => `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
